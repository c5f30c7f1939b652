"""The options that `memflow run` and `memflow plan` share, and the domains and assistants that they select."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.benchmarks.samples import MAX_LIMIT
from memflow.cli.moments import lake_as_of
from memflow.cli.profiles import profiled_domains
from memflow.errors import BadInput, BadSettings
from memflow.suggestions import MOST_NAMES, unknown_name

if TYPE_CHECKING:
    from memflow.memories.user_memories import UserMemory
    from resources.lake.lake import Lake
    from resources.settings.sections import Embedder
    from resources.settings.settings import Settings

DEMO_MEMORIES = ("none", "oracle", "full", "recent", "bm25_message", "embed_message", "rag_2_4_30")
ROLES = ("simulator", "judge", "backbone", "assistant", "annotator", "verifier")

_WHAT, _WHO = "What is measured", "Models"


def _option(flag: str, help_text: str, panel: str = "", metavar: str | None = "NAME", **more: Any) -> Any:
    return typer.Option(flag, help=help_text, rich_help_panel=panel or None, metavar=metavar, **more)


DomainOption = Annotated[
    list[str] | None, _option("--domain", "A domain; may be repeated. [those of the settings]", _WHAT)
]
MemoryOption = Annotated[
    list[str] | None,
    _option(
        "--memory",
        "A memory, or the import path of your own (my_module:MyMemory), with the default model; may be repeated."
        " none and oracle are added, and previous if the answers can change in every selected domain.",
        _WHAT,
    ),
]
AssistantOption = Annotated[
    list[str] | None,
    _option("--assistant", "A memory with another model; may be repeated.", _WHAT, metavar="MEMORY@MODEL"),
]
ProfileOption = Annotated[
    str | None,
    _option(
        "--profile",
        "The protocol of the domains: published, paper or memflow. Another than the default is a domain of its own, "
        "DOMAIN.PROFILE. [paper]",
        _WHAT,
        metavar="PROFILE",
    ),
]
LimitOption = Annotated[
    int,
    _option(
        "--limit",
        "Run a sample of each domain, DOMAIN~N: its first N users, test questions, trajectories, contexts or episodes. "
        "A sample is a domain of its own, which shares its answers with the whole domain; 0 takes all.",
        _WHAT,
        metavar="N",
        min=0,
        max=MAX_LIMIT,
    ),
]
BoundsOption = Annotated[
    bool,
    _option(
        "--bounds/--no-bounds",
        "Add the baselines none, oracle and previous (the state before its last change).",
        _WHAT,
        metavar=None,
    ),
]
DemoOption = Annotated[
    bool,
    _option(
        "--demo",
        "The two demo domains with the scripted chat, which is not a language model.",
        _WHAT,
        metavar=None,
    ),
]
UrlOption = Annotated[
    list[str] | None,
    _option(
        "--url",
        "An OpenAI-compatible address, such as http://127.0.0.1:8000/v1; needs --model. May be repeated for several "
        "servers of the model.",
        _WHO,
        metavar="URL",
    ),
]
ModelOption = Annotated[
    str | None,
    _option(
        "--model",
        "The model of every role: as the server at --url names it, or a model of memflow.toml.",
        _WHO,
    ),
]

EmbedderOption = Annotated[
    str | None,
    _option(
        "--embedder",
        "The embedder of memories that retrieve by embeddings: a model at --embedder-url, a folder of "
        "sentence-transformers weights, or hashing.",
        _WHO,
    ),
]
EmbedderUrlOption = Annotated[
    str | None,
    _option(
        "--embedder-url",
        "The OpenAI-compatible address of --embedder. [`url` of the embedder in memflow.toml, or --url]",
        _WHO,
        metavar="URL",
    ),
]

PresetOption = Annotated[
    str | None,
    _option(
        "--preset",
        "The provider at --url, such as deepseek, which determines the form of requests (docs/how-to/model.md).",
        _WHO,
        metavar="PROVIDER",
    ),
]


def _role_option(role: str, task: str) -> Any:
    return _option(f"--{role}", f"The model of memflow.toml that {task}, instead of --model.", _WHO)


SimulatorOption = Annotated[str | None, _role_option("simulator", "plays users")]
JudgeOption = Annotated[str | None, _role_option("judge", "judges")]
AnnotatorOption = Annotated[str | None, _role_option("annotator", "annotates gold labels")]
VerifierOption = Annotated[str | None, _role_option("verifier", "verifies gold labels")]

DomainFilter = Annotated[list[str] | None, _option("--domain", "Of this domain; may be repeated.")]
AssistantFilter = Annotated[list[str] | None, _option("--assistant", "Of this assistant; may be repeated.")]


@dataclass(frozen=True)
class Front:
    """The global options of the command line, which typer passes to every command as `ctx.obj`."""

    settings: Path | None = None
    home: Path | None = None
    debug: bool = False
    as_of: str | None = None
    """The moment at which the command reads the lake (`--as-of`)."""

    def lake(self) -> "Lake":
        """Return the lake of the settings, as of the moment of `--as-of` if given."""
        from resources.lake.lake import Lake

        lake = Lake(self.load().lake_root)
        return lake if self.as_of is None else lake_as_of(lake, self.as_of)

    def load(self, **over: Any) -> "Settings":
        """Return the settings, with the values in `over` replaced. Raises BadSettings for invalid settings."""
        from resources.settings.settings import load

        if self.home is not None:
            over["home"] = self.home
        return load(self.settings, over)


def front_of(ctx: typer.Context) -> Front:
    """Return the global options of a command."""
    return ctx.obj if isinstance(ctx.obj, Front) else Front()


@dataclass(frozen=True)
class Selection:
    """The selected domains and assistants, and the settings of memflow.toml extended by the command's options."""

    settings: "Settings"
    domains: tuple[str, ...]
    assistants: tuple[str, ...]


def select(
    ctx: typer.Context,
    *,
    domains: Sequence[str] | None = None,
    memories: Sequence[str] | None = None,
    assistants: Sequence[str] | None = None,
    limit: int = 0,
    profile: str | None = None,
    bounds: bool = True,
    demo: bool = False,
    url: Sequence[str] | None = None,
    model: str | None = None,
    embedder: str | None = None,
    embedder_url: str | None = None,
    preset: str | None = None,
    simulator: str | None = None,
    judge: str | None = None,
    annotator: str | None = None,
    verifier: str | None = None,
) -> Selection:
    """Return the domains and assistants that the options select, and activate the prompts of the settings.


    The default is the selection in memflow.toml. For each chat model, the baselines are added: `none` and
    `oracle`, and `previous` if every selected domain has previous states.
    Raises BadSettings for an invalid option, for an unusable prompt file, for a missing embedder, and for `previous` in
    a domain without previous states.
    """
    from resources.settings.prompt_folders import activate_prompts

    front = front_of(ctx)
    named = {"simulator": simulator, "judge": judge, "annotator": annotator, "verifier": verifier}
    roles = {role: name for role, name in named.items() if name}
    if demo and (url or model or roles):
        options = ", ".join(f"--{role}" for role in ("url", "model", *named))
        raise BadSettings(
            f"--demo uses the scripted chat and cannot be combined with {options}. Remove one of them."
        )
    _check_domains(front, domains or ())
    over = _models("scripted" if demo else model, url, preset, roles)
    if judge_of_options := over.get("roles", {}).get("judge"):  # also instead of the judges of single domains
        over["judges"] = dict.fromkeys(front.load().judges, judge_of_options)
    if embedder or embedder_url:
        over["embedder"] = _embedder(front.load().embedder, embedder, embedder_url, url[0] if url else None)
    paths = _import_paths([*(memories or ()), *(assistants or ())])
    if paths:
        _check_memory_names(front.load(), paths)
        over["memories"] = {name: {"path": path} for name, path in paths.items()}
    settings = front.load(**over)
    chosen = domains or (demo_domains() if demo else settings.domains)
    if profile is not None:
        chosen = profiled_domains(settings, chosen, profile)
    wanted = tuple(dict.fromkeys(sampled_domains(settings, chosen, limit)))
    called = [_assistant_name(each) for each in (*(memories or ()), *(assistants or ()))]
    own: Sequence[str] = DEMO_MEMORIES if demo else settings.assistants
    if (answering_model := settings.roles.assistant) != front.load().roles.assistant:
        called, own = (_with_model(names, answering_model) for names in (called, own))
    if called and bounds:
        called = _with_baselines(settings, wanted, called)
    answering = tuple(dict.fromkeys(called or own))
    _check_assistants(settings, wanted, answering)
    settings.check_embedder(answering)
    over["domains"] = tuple(dict.fromkeys((*settings.domains, *wanted)))
    over["assistants"] = tuple(dict.fromkeys((*settings.assistants, *answering)))
    settings = front.load(**over)
    activate_prompts(settings)
    return Selection(settings, wanted, answering)


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


def check_names(
    owner: str, kind: str, names: Sequence[str] | None, known: Collection[str], command: str = ""
) -> None:
    """Raise BadInput if a name is not in `known`; the message names the `kind` and the owner, such as the lake.

    `command` lists all names.
    """
    for name in names or ():
        if name not in known:
            raise BadInput(unknown_name(kind, name, known, command, owner))


def assistants_of(lake: "Lake", table: str, domain: str) -> list[str]:
    """Return the assistants with a stored partition of `table` in a domain."""
    parts = [partition.partition("/") for partition in lake.partitions(table)]
    return [assistant for of_domain, _, assistant in parts if of_domain == domain]


def check_played(lake: "Lake", domain: str, assistant: str, table: str = "memory.transcripts") -> None:
    """Raise BadInput if the lake has no partition of `table` for a domain and assistant; list stored assistants."""
    played = assistants_of(lake, table, domain)
    if assistant not in played:
        what = unknown_name("stored run of assistant", assistant, played, owner=domain)
        raise BadInput(f"{what}. Create it with `memflow run --domain {domain} --assistant {assistant}`.")


def scripted_note(settings: "Settings", assistants: Iterable[str]) -> str | None:
    """Return a note on the assistants that the scripted chat answers for; None if a language model answers for all."""
    from memflow.chat.scripted import LABEL

    names = [name for name in assistants if settings.model(settings.model_of(name)).kind == "scripted"]
    if not names:
        return None
    some = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
    return (
        f"memflow: the chat of {some} is {LABEL}. Its scores measure no model. To use one, add --url and --model, or "
        "[models] and [roles] in memflow.toml."
    )


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
    return [name if "@" in name else f"{name}@{model}" for name in assistants]


def _models(
    model: str | None, urls: Sequence[str] | None, preset: str | None, named: Mapping[str, str]
) -> dict[str, Any]:
    """Return the `models` and `roles` settings of the options --model, --url, --preset and the role options."""
    from resources.endpoints.addresses import check_address
    from resources.settings.sections import command_line_name

    over: dict[str, Any] = {}
    if urls and not model:
        raise BadSettings(
            "--url is given without a model. Add --model with the name of a model at that server."
        )
    if preset and not urls:
        raise BadSettings(
            "--preset is given without --url. Set `preset` of the model in memflow.toml instead, or add --url."
        )
    roles: dict[str, str] = {}
    if urls:
        for url in urls:
            check_address("--url", url)
        if len(set(urls)) < len(urls):
            raise BadSettings("--url repeats an address. Name each server once.")
        address = {"url": urls[0], "urls": ()} if len(urls) == 1 else {"url": "", "urls": tuple(urls)}
        served = {"kind": "endpoint", **address, "model": model, **({"preset": preset} if preset else {})}
        name = command_line_name(model or "")
        over["models"] = {name: served}
        model = name
    if model:
        roles = dict.fromkeys(ROLES, model)
    roles |= named
    if roles:
        over["roles"] = roles
    return over


def _embedder(
    configured: "Embedder", name: str | None, address: str | None, url: str | None
) -> dict[str, Any]:
    """Return the `embedder` setting that --embedder and --embedder-url set; `url` is the chat model's address."""
    from resources.endpoints.addresses import check_address

    if not name:
        raise BadSettings("--embedder-url is given without a model. Add --embedder with the model's name.")
    if not address and name == "hashing":
        return {"kind": "hashing", "dimensions": configured.dimensions}
    if not address and Path(name).expanduser().is_dir():
        return {"kind": "folder", "model": name}
    if address:
        check_address("--embedder-url", address)
    served = (address,) if address else configured.addresses or ((url,) if url else ())
    if not served:
        raise BadSettings(
            f"the embedder {name} is neither an existing folder nor `hashing`, and has no address. Add --embedder-url "
            "with the address that serves it, or fix the folder."
        )
    addresses = {"url": served[0], "urls": ()} if len(served) == 1 else {"url": "", "urls": served}
    return {"kind": "endpoint", **addresses, "model": name, "key_variable": configured.key_variable}


def own_of(settings: "Settings", named: Sequence[str]) -> tuple[dict[str, "UserMemory"], list[str]]:
    """Return the user memories of memflow.toml and of `named`, by name, and `named` with import paths replaced."""
    from memflow.memories.user_memories import UserMemory

    paths = _import_paths(named)
    _check_memory_names(settings, paths)
    given = {name: UserMemory(path, origin="command line") for name, path in paths.items()}
    return {**given, **settings.own_memories()}, [_assistant_name(each) for each in named]


def _assistant_name(assistant: str) -> str:
    """Return an assistant's name, in which an import path is replaced by the memory name derived from the path."""
    from memflow.memories.user_memories import memory_name

    memory, at, model = assistant.partition("@")
    return f"{memory_name(memory)}{at}{model}" if ":" in memory else assistant


def _import_paths(named: Sequence[str]) -> dict[str, str]:
    """Return the import paths in a list of memories and assistants, by derived memory name."""
    paths: dict[str, str] = {}
    for assistant in named:
        path = assistant.partition("@")[0]
        if ":" not in path:
            continue
        name = _assistant_name(path)
        if not name:
            raise BadSettings(
                f"{path!r} is not a valid import path. Use the form my_package.my_module:MyMemory."
            )
        other = paths.setdefault(name, path)
        if other != path:
            raise BadSettings(
                f"{other} and {path} have the same name, {name}. Rename one in memflow.toml: "
                f'[memories.NAME] path = "{path}"'
            )
    return paths


def _check_memory_names(settings: "Settings", paths: Mapping[str, str]) -> None:
    """Raise BadSettings if memflow.toml assigns a memory name in `paths` to another class."""
    for name, path in paths.items():
        mine = settings.own_memories().get(name)
        if mine is not None and mine.path != path:
            raise BadSettings(
                f"{path} has the name {name}, which {mine.path or mine.system} of {mine.origin} already "
                f'uses. Rename it in memflow.toml: [memories.NAME] path = "{path}"'
            )


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
        memory, _, model = assistant.partition("@")
        config = find(memory, settings.own_memories())
        config.check_requirements()
        for domain in (settings.domain(name) for name in domains):
            check_previous_state(registry.benchmark(domain.benchmark), domain, config)
        if model:
            settings.model(model)
