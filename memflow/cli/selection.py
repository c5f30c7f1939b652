"""What a run or a plan is about: the options that both commands share, and the settings under them.

`plan` and `run` take the same options, so that a plan is of the run that would follow. What either does with
the selection is its own file's business.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.memories.user_memories import UserMemory
    from resources.settings import Settings

DEMO = ("amemgym_demo", "memorybench_demo")
DEMO_MEMORIES = ("none", "oracle", "full", "recent", "bm25_message", "embed_message", "rag_2_4_30")
BOUNDS = ("none", "oracle")
COMMAND_LINE_MODEL = "cli"
ROLES = ("simulator", "judge", "backbone", "assistant", "annotator", "verifier")

_WHAT, _WHO = "What is measured", "Who answers, plays users and judges"

DomainOption = Annotated[
    list[str] | None,
    typer.Option("--domain", metavar="NAME", help="A domain; may be repeated.", rich_help_panel=_WHAT),
]
MemoryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--memory",
        metavar="NAME",
        help="A memory, or the import path of one of your own (my_module:MyMemory), under the assistant's"
        " model; may be repeated. none and oracle join it.",
        rich_help_panel=_WHAT,
    ),
]
AssistantOption = Annotated[
    list[str] | None,
    typer.Option(
        "--assistant",
        metavar="MEMORY@MODEL",
        help="A memory under a model of its own; may be repeated.",
        rich_help_panel=_WHAT,
    ),
]
LimitOption = Annotated[
    int,
    typer.Option(
        "--limit",
        min=0,
        help="Users, test questions (MemoryBench), trajectories (MemBench) or contexts (CoMem); 0 is all.",
        rich_help_panel=_WHAT,
    ),
]
BoundsOption = Annotated[
    bool,
    typer.Option(
        "--bounds/--no-bounds",
        help="Measure none and oracle too: they bound every scale.",
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
        help="Takes every role: with --url, as the server names it; else a model of memflow.toml.",
        rich_help_panel=_WHO,
    ),
]
SimulatorOption = Annotated[
    str | None,
    typer.Option(
        "--simulator",
        metavar="NAME",
        help="The model of memflow.toml that plays users, whatever --model says.",
        rich_help_panel=_WHO,
    ),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="NAME",
        help="The model of memflow.toml that judges, whatever --model says.",
        rich_help_panel=_WHO,
    ),
]

AnnotatorOption = Annotated[
    str | None,
    typer.Option(
        "--annotator",
        metavar="NAME",
        help="The model of memflow.toml that says what is right at a checkpoint, whatever --model says.",
        rich_help_panel=_WHO,
    ),
]
VerifierOption = Annotated[
    str | None,
    typer.Option(
        "--verifier",
        metavar="NAME",
        help="The model of memflow.toml that verifies that: another one, whatever --model says.",
        rich_help_panel=_WHO,
    ),
]


@dataclass(frozen=True)
class Front:
    """The global options, as every command finds them in `ctx.obj`."""

    settings: Path | None = None
    home: Path | None = None
    debug: bool = False

    def load(self, **over: Any) -> "Settings":
        """The settings, with the command line over them. Raises BadSettings."""
        from resources.settings import load

        if self.home is not None:
            over["home"] = self.home
        return load(self.settings, over)


def front_of(ctx: typer.Context) -> Front:
    """The global options of a command."""
    return ctx.obj if isinstance(ctx.obj, Front) else Front()


@dataclass(frozen=True)
class Selection:
    """What is asked for. `settings` has every partition of the file, and those that are asked for besides."""

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
    """The selection that the options ask for. Raises BadSettings saying which option cannot be, and why.

    What is not named is the settings' own. Memories that are named are joined by the bounds, under each model
    that answers.
    """
    front = front_of(ctx)
    named = {"simulator": simulator, "judge": judge, "annotator": annotator, "verifier": verifier}
    roles = {role: name for role, name in named.items() if name}
    if demo and (url or model or roles):
        options = " and ".join(f"--{role}" for role in ("url", "model", *named))
        raise BadSettings(f"--demo takes the scripted chat: leave out {options}")
    over = _models("scripted" if demo else model, url, roles)
    paths = _paths([*(memories or ()), *(assistants or ())])
    if paths:
        _apart(front.load(), paths)
        over["memories"] = {name: {"path": path} for name, path in paths.items()}
    settings = front.load(**over)
    wanted = tuple(dict.fromkeys(domains or (DEMO if demo else settings.domains)))
    for name in wanted:
        settings.domain(name)
    called = [_called(each) for each in (*(memories or ()), *(assistants or ()))]
    own = DEMO_MEMORIES if demo else settings.assistants
    answering = tuple(dict.fromkeys((_bounded(called) if bounds else called) if called else own))
    _known(settings, answering)
    over["domains"] = tuple(dict.fromkeys((*settings.domains, *wanted)))
    over["assistants"] = tuple(dict.fromkeys((*settings.assistants, *answering)))
    return Selection(front.load(**over), wanted, answering, limit)


def _models(model: str | None, url: str | None, named: Mapping[str, str]) -> dict[str, Any]:
    """The part of the settings that says which model plays which role."""
    over: dict[str, Any] = {}
    if url and not model:
        raise BadSettings("--url needs --model: the name by which the server at that address knows its model")
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
    """A user's own memories, those of the import paths in `named` among them, and everything in `named` by name."""
    from memflow.memories.user_memories import UserMemory

    paths = _paths(named)
    _apart(settings, paths)
    given = {name: UserMemory(path, origin="command line") for name, path in paths.items()}
    return {**given, **settings.own_memories()}, [_called(each) for each in named]


def _called(assistant: str) -> str:
    """A memory or an assistant by name, where it was given by the import path of its class."""
    from memflow.memories.user_memories import memory_name

    memory, at, model = assistant.partition("@")
    return f"{memory_name(memory)}{at}{model}" if ":" in memory else assistant


def _paths(named: Sequence[str]) -> dict[str, str]:
    """The import paths among memories and assistants, by the names that they get."""
    paths: dict[str, str] = {}
    for assistant in named:
        path = assistant.partition("@")[0]
        if ":" not in path:
            continue
        name = _called(path)
        if not name:
            raise BadSettings(f"{path!r} is not an import path; write my_package.my_module:MyMemory")
        other = paths.setdefault(name, path)
        if other != path:
            raise BadSettings(
                f"{other} and {path} would both be called {name}; name one of them in memflow.toml:"
                f' [memories.NAME] path = "{path}"'
            )
    return paths


def _apart(settings: "Settings", paths: Mapping[str, str]) -> None:
    """Raise BadSettings where a class would get the name of another memory that the settings know."""
    for name, path in paths.items():
        mine = settings.own_memories().get(name)
        if mine is not None and mine.path != path:
            raise BadSettings(
                f"{path} would be called {name}, which is {mine.path or mine.system} of {mine.origin}; name it"
                f' otherwise in memflow.toml: [memories.NAME] path = "{path}"'
            )


def _bounded(assistants: Sequence[str]) -> list[str]:
    """`assistants`, with the bounds of each model that answers before them."""
    models = dict.fromkeys(assistant.partition("@")[1:] for assistant in assistants)
    return [*(f"{bound}{at}{model}" for at, model in models for bound in BOUNDS), *assistants]


def _known(settings: "Settings", assistants: Sequence[str]) -> None:
    """Raise BadSettings where a memory or a model is not known, or a package that a memory needs is missing."""
    from memflow.memories.registry import find

    for assistant in assistants:
        memory, _, model = assistant.partition("@")
        find(memory, settings.own_memories()).check_requirements()
        if model:
            settings.model(model)
