"""The domains and assistants that the options of `memflow run`, `memflow plan` and `memflow.evaluate` select."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from memflow.errors import BadSettings
from memflow.operations.front import Front
from memflow.operations.import_paths import assistant_name, own_memories
from memflow.operations.model_options import embedder_settings, model_settings
from memflow.operations.retrieval_only import MEMORIES, check_retrieval, demo_retrieval
from memflow.repeats import MARK, plain_name, with_repeats

if TYPE_CHECKING:
    from memflow.resources.settings.settings import Settings

DEMO_MEMORIES = ("none", "oracle", "full", "recent", "bm25_message", "embed_message", "rag_2_4_30")


@dataclass(frozen=True)
class Selection:
    """The selected domains and assistants, and the settings of memflow.toml extended by the command's options."""

    settings: "Settings"
    domains: tuple[str, ...]
    assistants: tuple[str, ...]
    retrieval_only: tuple[tuple[str, str], ...] = ()
    """Domains and assistants whose retrieval is measured without answers."""
    paper: str = ""
    """The table of a paper that is run, `BENCHMARK:ID`."""


def select(
    front: Front,
    *,
    paper: str | None = None,
    domains: Sequence[str] | None = None,
    memories: Sequence[str] | None = None,
    assistants: Sequence[str] | None = None,
    limit: int = 0,
    baselines: bool = True,
    repeats: int | None = None,
    demo: bool = False,
    url: str | None = None,
    model: str | None = None,
    judge: str | None = None,
    uncalibrated: bool = False,
    embedder: str | None = None,
    embedder_url: str | None = None,
    embedder_preset: str | None = None,
    preset: str | None = None,
    retrieval_only: bool = False,
) -> Selection:
    """Return the domains and assistants that the options select, and activate the prompts of the settings.

    The default is the selection in memflow.toml. For each chat model, the baselines are added: `none` and
    `oracle`, and `previous` if every selected domain has previous states. Repeats follow the assistants. `paper`
    selects what a table of a paper needs, without further baselines; domains, memories and assistants then select a
    part of it.
    Raises BadSettings for an invalid option, for an unusable prompt file, for a missing embedder, and for `previous` in
    a domain without previous states.
    """
    from memflow.resources.settings.prompt_folders import activate_prompts

    configured = front.load()
    over: dict[str, Any] = {}
    if paper is not None:
        from memflow.operations.papers import paper_selection

        others = [
            option for option, is_given in (("demo", demo), ("retrieval-only", retrieval_only)) if is_given
        ]
        options = paper_selection(configured, paper, domains, memories, assistants, model, others)
        domains, memories, baselines = options.domains, options.memories, False
        limit, repeats = limit or options.sample, repeats or options.repeats
        over["repeats_of"] = options.repeats_of
    if demo and (url or model or judge):
        raise BadSettings(
            "--demo uses the scripted chat, so it cannot be combined with --url, --model or --judge. Remove --demo, or "
            "remove those options."
        )
    for domain in domains or ():
        configured.domain(domain)  # before other options are checked
    over |= model_settings(configured, "scripted" if demo else model, url, preset, judge)
    if judge_of_options := over.get("roles", {}).get("judge"):  # also instead of the judges of single domains
        over["judges"] = dict.fromkeys(configured.judges, judge_of_options)
    if uncalibrated:
        over["calibrate_judges"] = False
    if embedder or embedder_url or embedder_preset:
        over["embedder"] = embedder_settings(
            configured.embedder, embedder, embedder_url, url, embedder_preset
        )
    named = [*(memories or ()), *(assistants or ())]
    if own := own_memories(configured, named):
        over["memories"] = own
    settings = front.load(**over)
    wanted = tuple(
        sampled_domains(settings, domains or (demo_domains() if demo else settings.domains), limit)
    )
    chosen = [assistant_name(name) for name in named]
    default: Sequence[str] = DEMO_MEMORIES if demo else settings.assistants
    if retrieval_only:
        default, baselines, repeats = MEMORIES, False, 1
        # No model is asked, so no judge either.
        over["calibrate_judges"] = all(
            settings.model(name).kind == "scripted" for name in settings.judge_models()
        )
    elif (answering_model := settings.roles.assistant) != configured.roles.assistant:
        chosen, default = (_with_model(names, answering_model) for names in (chosen, default))
    if chosen and baselines:
        chosen = _with_baselines(settings, wanted, chosen)
    answering = tuple(dict.fromkeys(chosen or default))
    _check_assistants(settings, wanted, answering)
    if retrieval_only:
        check_retrieval(settings, wanted, answering)
    else:
        settings.check_embedder(answering)
    answering = with_repeats(answering, repeats or settings.repeats, settings.repeats_of)
    whole_demo = demo and not (domains or named or limit)
    retrieving = (
        tuple(product(wanted, answering)) if retrieval_only else demo_retrieval() if whole_demo else ()
    )
    over["domains"] = tuple(dict.fromkeys((*settings.domains, *wanted, *(name for name, _ in retrieving))))
    over["assistants"] = tuple(
        dict.fromkeys((*settings.assistants, *answering, *(name for _, name in retrieving)))
    )
    settings = front.load(**over)
    activate_prompts(settings)
    return Selection(settings, wanted, () if retrieval_only else answering, retrieving, paper or "")


def sampled_domains(settings: "Settings", names: Sequence[str], limit: int) -> list[str]:
    """Return the names of the samples of domains with this limit, each once; the same names if the limit is 0.

    Raises BadSettings for an unknown domain, and for a sample with another limit.
    """
    sampled: dict[str, None] = {}
    for domain in map(settings.domain, names):
        if limit and domain.limit not in (0, limit):
            raise BadSettings(
                f"the domain {domain.name} is a sample with the limit {domain.limit}, but --limit is {limit}. Use "
                f"--domain {domain.base}, or remove --limit."
            )
        sampled[domain.limited(limit or domain.limit).name] = None
    return [*sampled]


def demo_domains() -> tuple[str, ...]:
    """Return the domains of `--demo`, as declared by the benchmarks."""
    from memflow.benchmarks import registry

    return tuple(spec.demo for spec in registry.specs() if spec.demo)


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
