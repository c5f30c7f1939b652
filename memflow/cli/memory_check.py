"""`memflow memories check`: check a memory server or a memory written in Python, line by line."""

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.import_paths import address_name, is_address, own_of
from memflow.cli.output import Format, FormatOption, Text, answer, note, table
from memflow.concurrency import run_coroutine
from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.resources.memory_servers.check_lines import CheckLine
    from memflow.resources.settings.own_sections import OwnMemory
    from memflow.resources.settings.settings import Settings

SERVER = "server"
"""The name of a memory server that is given as a command."""
COLORS = {"ok": "green", "wrong": "red", "note": "yellow", "skipped": "dim"}


def check(
    ctx: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|COMMAND...",
            help="A memory, an import path (my_module:MyMemory), the address of a memory server, or its command.",
        ),
    ],
    form: FormatOption = Format.text,
) -> None:
    """Check a memory: what it declares, whether it keeps its texts apart, and whether reads change it.

    A memory server is started and asked with made-up messages; a memory in Python uses the models of the settings.
    Put `--` before a command with options. Exit with code 1 if a line is wrong. [memories.NAME] in memflow.toml sets
    the environment variables and time limits of a server.
    """
    settings = front_of(ctx).load()
    name, own = _server(settings, words)
    lines = _check_server(settings, name, own) if own is not None else _check_python(settings, words)
    counts: Counter[str] = Counter(line.verdict for line in lines)
    rows = [
        (
            line.name,
            Text(line.verdict, COLORS[line.verdict]),
            line.found,
            line.fix if line.verdict in ("wrong", "note") else "",
        )
        for line in lines
    ]
    shown = ", ".join(f"{counts[verdict]} {verdict}" for verdict in COLORS if counts[verdict])
    answer(
        form,
        {"memory": name, "ok": not counts["wrong"], "lines": [line.as_dict() for line in lines]},
        table(f"Memory {name}", ("check", "verdict", "found", "what to do"), rows),
        note(f"\n{shown}. What each line finds: docs/how-to/memory_server.md."),
    )
    if counts["wrong"]:
        raise typer.Exit(1)


def _server(settings: "Settings", words: Sequence[str]) -> "tuple[str, OwnMemory | None]":
    """Return the name and the declaration of a memory server; None for a memory in Python."""
    from memflow.resources.settings.own_sections import OwnMemory

    [first, *more] = words
    if not more and first in settings.memories:
        own = settings.memories[first]
        return first, own if own.is_server else None
    if not more and is_address(first):
        return address_name(first), OwnMemory(url=first)
    command = list(words) if more else shlex.split(first)
    if len(command) == 1 and "/" not in first:
        return first, None
    return SERVER, OwnMemory(command=tuple(command), folder=Path.cwd())


def _check_server(settings: "Settings", name: str, own: "OwnMemory") -> "list[CheckLine]":
    import tempfile

    from memflow.resources.memory_servers.declaration import check_command, open_server
    from memflow.resources.memory_servers.server_checks import ServerChecks

    if own.command and (wrong := check_command(name, own)):
        raise BadSettings(wrong.replace(f"`command` of [memories.{SERVER}]", "the command"))
    if name != SERVER:
        return check_named_server(
            settings.model_copy(update={"memories": {**settings.memories, name: own}}), name
        )
    with tempfile.TemporaryDirectory(prefix="memflow-check-") as folder:
        starts = iter(range(1000))
        checks = ServerChecks(
            lambda: open_server(name, own, Path(folder), log=f"{name}/check.{next(starts)}")
        )
        return run_coroutine(checks.run())


def check_named_server(settings: "Settings", name: str, budget: Any = None) -> "list[CheckLine]":
    """Check a memory server of the settings with the models that it is given, and store the result."""
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.models.memory_check import check_memory_server
    from memflow.resources.models.models import Models

    settings.home.mkdir(parents=True, exist_ok=True)
    with Models(settings, SqlLedger(settings.ledger_url), budget) as models:
        return check_memory_server(models, name, settings.memories[name])


def _check_python(settings: "Settings", words: Sequence[str]) -> "list[CheckLine]":
    from memflow.chat.ledger import RequestContext
    from memflow.memories.registry import find
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.memory_servers.python_checks import PythonChecks
    from memflow.resources.models.models import Models
    from memflow.resources.settings.own_sections import OwnMemory
    from memflow.resources.settings.prompt_folders import activate_prompts

    known, [name] = own_of(settings, words)
    memory = find(name, known)
    if ":" in words[0]:
        named = {**settings.memories, name: OwnMemory(path=words[0])}
        settings = settings.model_copy(update={"memories": named})
    if not memory.system.memory.needs_playing:
        raise BadSettings(
            f"nothing is written to the memory {name}, so there is nothing to check. Choose another."
        )
    activate_prompts(settings)
    settings.home.mkdir(parents=True, exist_ok=True)

    async def work(chats: Any) -> "list[CheckLine]":
        return await PythonChecks(memory.factory(await chats.tools(name))).run()

    with Models(settings, SqlLedger(settings.ledger_url)) as models:
        return models.run(RequestContext(run="memories check", stage="memories", assistant=name), work)
