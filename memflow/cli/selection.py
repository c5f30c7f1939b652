"""The domains and assistants that the options of `memflow run` and `memflow plan` select."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import typer

from memflow.cli import options
from memflow.cli.front import Front, front_of
from memflow.cli.import_paths import (
    addresses,
    assistant_name,
    check_memory_names,
    import_paths,
)
from memflow.cli.model_options import embedder_settings, model_settings
from memflow.cli.profiles import profiled_domains
from memflow.errors import BadSettings
from memflow.repeats import MARK, plain_name, with_repeats

if TYPE_CHECKING:
    from resources.settings.settings import Settings

DEMO_MEMORIES = ("none", "oracle", "full", "recent", "bm25_message", "embed_message", "rag_2_4_30")


@dataclass(frozen=True)
class Selection:
    """The selected domains and assistants, and the settings of memflow.toml extended by the command's options."""

    settings: "Settings"
    domains: tuple[str, ...]
    assistants: tuple[str, ...]


def select(
    ctx: typer.Context,
    *,
    domains: options.DomainOption = None,
    memories: options.MemoryOption = None,
    assistants: options.AssistantOption = None,
    limit: options.LimitOption = 0,
    profile: options.ProfileOption = None,
    bounds: options.BoundsOption = True,
    repeats: options.RepeatsOption = None,
    repeats_of: options.RepeatsOfOption = None,
    demo: options.DemoOption = False,
    url: options.UrlOption = None,
    model: options.ModelOption = None,
    embedder: options.EmbedderOption = None,
    embedder_url: options.EmbedderUrlOption = None,
    preset: options.PresetOption = None,
    simulator: options.SimulatorOption = None,
    judge: options.JudgeOption = None,
    annotator: options.AnnotatorOption = None,
    verifier: options.VerifierOption = None,
) -> Selection:
    """Return the domains and assistants that the options select, and activate the prompts of the settings.

    The default is the selection in memflow.toml. For each chat model, the baselines are added: `none` and
    `oracle`, and `previous` if every selected domain has previous states. Repeats follow the assistants.
    Raises BadSettings for an invalid option, for an unusable prompt file, for a missing embedder, and for `previous` in
    a domain without previous states.
    """
    from resources.settings.prompt_folders import activate_prompts

    front = front_of(ctx)
    named = {"simulator": simulator, "judge": judge, "annotator": annotator, "verifier": verifier}
    roles = {role: name for role, name in named.items() if name}
    if demo and (url or model or roles):
        flags = ", ".join(f"--{role}" for role in ("url", "model", *named))
        raise BadSettings(
            f"--demo uses the scripted chat and cannot be combined with {flags}. Remove one of them."
        )
    _check_domains(front, domains or ())
    over = model_settings("scripted" if demo else model, url, preset, roles)
    if judge_of_options := over.get("roles", {}).get("judge"):  # also instead of the judges of single domains
        over["judges"] = dict.fromkeys(front.load().judges, judge_of_options)
    if embedder or embedder_url:
        over["embedder"] = embedder_settings(
            front.load().embedder, embedder, embedder_url, url[0] if url else None
        )
    paths = import_paths([*(memories or ()), *(assistants or ())])
    if paths:
        check_memory_names(front.load(), paths)
        over["memories"] = {name: {"path": path} for name, path in paths.items()}
    if urls := addresses([*(memories or ()), *(assistants or ())]):
        over["memories"] = {**over.get("memories", {}), **{name: {"url": url} for name, url in urls.items()}}
    settings = front.load(**over)
    chosen = domains or (demo_domains() if demo else settings.domains)
    if profile is not None:
        chosen = profiled_domains(settings, chosen, profile)
    wanted = tuple(dict.fromkeys(sampled_domains(settings, chosen, limit)))
    called = [assistant_name(each) for each in (*(memories or ()), *(assistants or ()))]
    own: Sequence[str] = DEMO_MEMORIES if demo else settings.assistants
    if (answering_model := settings.roles.assistant) != front.load().roles.assistant:
        called, own = (_with_model(names, answering_model) for names in (called, own))
    if called and bounds:
        called = _with_baselines(settings, wanted, called)
    answering = tuple(dict.fromkeys(called or own))
    _check_assistants(settings, wanted, answering)
    settings.check_embedder(answering)
    answering = with_repeats(answering, repeats or settings.repeats, repeats_of or settings.repeats_of)
    over["domains"] = tuple(dict.fromkeys((*settings.domains, *wanted)))
    over["assistants"] = tuple(dict.fromkeys((*settings.assistants, *answering)))
    settings = front.load(**over)
    activate_prompts(settings)
    return Selection(settings, wanted, answering)


def with_selection(
    command: Callable[..., None], prepare: Callable[[], None] | None = None
) -> Callable[..., None]:
    """Return the command with the options of `select` in place of its parameter `selection`.

    `prepare` is called before the selection, which imports the benchmarks and what they need.
    """
    shared = dict(inspect.signature(select).parameters)
    own = dict(inspect.signature(command).parameters)
    ctx = shared.pop("ctx")
    del own["ctx"], own["selection"]

    @wraps(command)
    def selecting(ctx: typer.Context, **given: Any) -> None:
        if prepare is not None:
            prepare()
        command(
            ctx,
            selection=select(ctx, **{name: given[name] for name in shared}),
            **{name: given[name] for name in own},
        )

    parameters = [ctx, *shared.values(), *own.values()]
    parameters = [each.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in parameters]
    selecting.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    selecting.__annotations__ = {each.name: each.annotation for each in parameters}
    return selecting


def sampled_domains(settings: "Settings", names: Sequence[str], limit: int) -> list[str]:
    """Return the names of the samples of domains with this limit, or the same names if the limit is 0.

    Raises BadSettings for an unknown domain, and for a sample with another limit.
    """
    found = []
    for domain in map(settings.domain, names):
        if limit and domain.limit not in (0, limit):
            raise BadSettings(
                f"the domain {domain.name} is a sample with the limit {domain.limit}, but --limit is {limit}. Use "
                f"--domain {domain.base}, or remove --limit."
            )
        found.append(domain.limited(limit or domain.limit).name)
    return found


def demo_domains() -> tuple[str, ...]:
    """Return the domains of `--demo`, as declared by the benchmarks."""
    from memflow.benchmarks import registry

    return tuple(spec.demo for spec in registry.specs() if spec.demo)


def _check_domains(front: Front, names: Sequence[str]) -> None:
    """Raise BadSettings for an unknown domain, before other options are checked."""
    settings = front.load() if names else None
    for name in names:
        if settings is not None:
            settings.domain(name)


def _with_model(assistants: Iterable[str], model: str) -> list[str]:
    """Return the assistants, with the model in the names of those that have none.

    Assistants of another model than the default of memflow.toml so have names of their own, and never replace its
    results.
    """
    named = ((name, *name.partition(MARK)) for name in assistants)
    return [name if "@" in name else f"{plain}@{model}{mark}{repeat}" for name, plain, mark, repeat in named]


def _with_baselines(settings: "Settings", domains: Sequence[str], assistants: Sequence[str]) -> list[str]:
    """Return the assistants, preceded by the baselines of the domains with each of their models."""
    from memflow.benchmarks import registry
    from memflow.memories.bounds import BOUNDS, PREVIOUS

    of = [settings.domain(name) for name in domains]
    changing = all(registry.benchmark(each.benchmark).has_previous_state(each) for each in of)
    baselines = [name for name in BOUNDS if changing or name != PREVIOUS]
    models = dict.fromkeys(assistant.partition("@")[1:] for assistant in assistants)
    return [*(f"{baseline}{at}{model}" for at, model in models for baseline in baselines), *assistants]


def _check_assistants(settings: "Settings", domains: Sequence[str], assistants: Sequence[str]) -> None:
    """Raise BadSettings if an assistant has an unknown memory or model, if a package that it needs is missing, or if a
    domain has no previous state for the memory `previous`.
    """
    from memflow.benchmarks import registry
    from memflow.memories.registry import find
    from memflow.run.evaluation import check_previous_state

    for assistant in assistants:
        memory, _, model = plain_name(assistant).partition("@")
        config = find(memory, settings.own_memories())
        config.check_requirements()
        for domain in (settings.domain(name) for name in domains):
            check_previous_state(registry.benchmark(domain.benchmark), domain, config)
        if model:
            settings.model(model)
