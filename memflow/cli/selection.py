"""The options that `memflow run` and `memflow plan` share, and the domains and assistants that they select."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.memories.user_memories import UserMemory
    from resources.settings import Settings

DEMO_MEMORIES = ("none", "oracle", "full", "recent", "bm25_message", "embed_message", "rag_2_4_30")
BOUNDS = ("none", "oracle")
COMMAND_LINE_MODEL = "cli"
ROLES = ("simulator", "judge", "backbone", "assistant", "annotator", "verifier")

_WHAT, _WHO = "What is measured", "Models"

DomainOption = Annotated[
    list[str] | None,
    typer.Option(
        "--domain",
        metavar="NAME",
        help="A domain; may be repeated. [those of the settings]",
        rich_help_panel=_WHAT,
    ),
]
MemoryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--memory",
        metavar="NAME",
        help="A memory, or the import path of your own (my_module:MyMemory), with the default model; may be"
        " repeated. none and oracle are added.",
        rich_help_panel=_WHAT,
    ),
]
AssistantOption = Annotated[
    list[str] | None,
    typer.Option(
        "--assistant",
        metavar="MEMORY@MODEL",
        help="A memory with another model; may be repeated.",
        rich_help_panel=_WHAT,
    ),
]
LimitOption = Annotated[
    int,
    typer.Option(
        "--limit",
        min=0,
        help="How many users, test questions, trajectories, contexts or episodes of each domain to take; 0 takes all.",
        rich_help_panel=_WHAT,
    ),
]
BoundsOption = Annotated[
    bool,
    typer.Option(
        "--bounds/--no-bounds",
        help="Add none and oracle, the lower and upper bound of every score.",
        rich_help_panel=_WHAT,
    ),
]
DemoOption = Annotated[
    bool,
    typer.Option(
        "--demo",
        help="The two demo domains with the scripted chat, which is not a language model.",
        rich_help_panel=_WHAT,
    ),
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="An OpenAI-compatible address, such as http://127.0.0.1:8000/v1; needs --model.",
        rich_help_panel=_WHO,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="The model of every role: as the server at --url names it, or a model of memflow.toml.",
        rich_help_panel=_WHO,
    ),
]
SimulatorOption = Annotated[
    str | None,
    typer.Option(
        "--simulator",
        metavar="NAME",
        help="The model of memflow.toml that plays users, instead of --model.",
        rich_help_panel=_WHO,
    ),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="NAME",
        help="The model of memflow.toml that judges, instead of --model.",
        rich_help_panel=_WHO,
    ),
]

AnnotatorOption = Annotated[
    str | None,
    typer.Option(
        "--annotator",
        metavar="NAME",
        help="The model of memflow.toml that annotates gold labels, instead of --model.",
        rich_help_panel=_WHO,
    ),
]
VerifierOption = Annotated[
    str | None,
    typer.Option(
        "--verifier",
        metavar="NAME",
        help="The model of memflow.toml that verifies gold labels, instead of --model.",
        rich_help_panel=_WHO,
    ),
]


@dataclass(frozen=True)
class Front:
    """The global options, as `ctx.obj` holds them."""

    settings: Path | None = None
    home: Path | None = None
    debug: bool = False

    def load(self, **over: Any) -> "Settings":
        """Return the settings, overridden by `over`. Raises BadSettings."""
        from resources.settings import load

        if self.home is not None:
            over["home"] = self.home
        return load(self.settings, over)


def front_of(ctx: typer.Context) -> Front:
    """Return the global options of a command."""
    return ctx.obj if isinstance(ctx.obj, Front) else Front()


@dataclass(frozen=True)
class Selection:
    """The domains and assistants of a run. `settings` has them besides those of the settings file."""

    settings: "Settings"
    domains: tuple[str, ...]
    assistants: tuple[str, ...]
    limit: int = 0


def select(
    ctx: typer.Context,
    *,
    domains: Sequence[str] | None = None,
    memories: Sequence[str] | None = None,
    assistants: Sequence[str] | None = None,
    limit: int = 0,
    bounds: bool = True,
    demo: bool = False,
    url: str | None = None,
    model: str | None = None,
    simulator: str | None = None,
    judge: str | None = None,
    annotator: str | None = None,
    verifier: str | None = None,
) -> Selection:
    """Return what the options select. Raises BadSettings naming the option that cannot be used.

    Without options: the domains and assistants of the settings. The bounds are added for each model that answers.
    """
    front = front_of(ctx)
    named = {"simulator": simulator, "judge": judge, "annotator": annotator, "verifier": verifier}
    roles = {role: name for role, name in named.items() if name}
    if demo and (url or model or roles):
        options = ", ".join(f"--{role}" for role in ("url", "model", *named))
        raise BadSettings(f"--demo uses the scripted chat and cannot be combined with {options}")
    over = _models("scripted" if demo else model, url, roles)
    paths = _paths([*(memories or ()), *(assistants or ())])
    if paths:
        _apart(front.load(), paths)
        over["memories"] = {name: {"path": path} for name, path in paths.items()}
    settings = front.load(**over)
    wanted = tuple(dict.fromkeys(domains or (demo_domains() if demo else settings.domains)))
    for name in wanted:
        settings.domain(name)
    called = [_called(each) for each in (*(memories or ()), *(assistants or ()))]
    own = DEMO_MEMORIES if demo else settings.assistants
    answering = tuple(dict.fromkeys((_bounded(called) if bounds else called) if called else own))
    _known(settings, answering)
    over["domains"] = tuple(dict.fromkeys((*settings.domains, *wanted)))
    over["assistants"] = tuple(dict.fromkeys((*settings.assistants, *answering)))
    return Selection(front.load(**over), wanted, answering, limit)


def demo_domains() -> tuple[str, ...]:
    """Return the domains of `--demo`: those that benchmarks declare for it."""
    from memflow.benchmarks import registry

    return tuple(spec.demo for spec in registry.specs() if spec.demo)


def _models(model: str | None, url: str | None, named: Mapping[str, str]) -> dict[str, Any]:
    """The models and roles that the options set."""
    over: dict[str, Any] = {}
    if url and not model:
        raise BadSettings("--url needs --model, the name of the model at that server")
    roles: dict[str, str] = {}
    if url:
        over["models"] = {COMMAND_LINE_MODEL: {"kind": "endpoint", "url": url, "model": model}}
        model = COMMAND_LINE_MODEL
    if model:
        roles = dict.fromkeys(ROLES, model)
    roles |= named
    if roles:
        over["roles"] = roles
    return over


def own_of(settings: "Settings", named: Sequence[str]) -> tuple[dict[str, "UserMemory"], list[str]]:
    """Return a user's own memories, including the import paths in `named`, and the names for `named`."""
    from memflow.memories.user_memories import UserMemory

    paths = _paths(named)
    _apart(settings, paths)
    given = {name: UserMemory(path, origin="command line") for name, path in paths.items()}
    return {**given, **settings.own_memories()}, [_called(each) for each in named]


def _called(assistant: str) -> str:
    """The name of a memory or assistant, also where it is given by import path."""
    from memflow.memories.user_memories import memory_name

    memory, at, model = assistant.partition("@")
    return f"{memory_name(memory)}{at}{model}" if ":" in memory else assistant


def _paths(named: Sequence[str]) -> dict[str, str]:
    """The import paths among memories and assistants, by the name of each."""
    paths: dict[str, str] = {}
    for assistant in named:
        path = assistant.partition("@")[0]
        if ":" not in path:
            continue
        name = _called(path)
        if not name:
            raise BadSettings(f"{path!r} is not an import path; use the form my_package.my_module:MyMemory")
        other = paths.setdefault(name, path)
        if other != path:
            raise BadSettings(
                f"{other} and {path} both have the name {name}; rename one of them in memflow.toml:"
                f' [memories.NAME] path = "{path}"'
            )
    return paths


def _apart(settings: "Settings", paths: Mapping[str, str]) -> None:
    """Raise BadSettings if a class has the name of another memory of the settings."""
    for name, path in paths.items():
        mine = settings.own_memories().get(name)
        if mine is not None and mine.path != path:
            raise BadSettings(
                f"{path} has the name {name}, which is {mine.path or mine.system} of {mine.origin}; rename it"
                f' in memflow.toml: [memories.NAME] path = "{path}"'
            )


def _bounded(assistants: Sequence[str]) -> list[str]:
    """The assistants, preceded by the bounds of each model."""
    models = dict.fromkeys(assistant.partition("@")[1:] for assistant in assistants)
    return [*(f"{bound}{at}{model}" for at, model in models for bound in BOUNDS), *assistants]


def _known(settings: "Settings", assistants: Sequence[str]) -> None:
    """Raise BadSettings for an unknown memory or model, or a missing package that a memory needs."""
    from memflow.memories.registry import find

    for assistant in assistants:
        memory, _, model = assistant.partition("@")
        find(memory, settings.own_memories()).check_requirements()
        if model:
            settings.model(model)
