"""`memflow memories check`: check a memory server or a memory written in Python, line by line."""

import shlex
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.import_paths import with_own_memories
from memflow.cli.options import ANY_NAME, argument
from memflow.cli.output import Columns, Format, FormatOption, Text, answer, note, table_of
from memflow.concurrency import run_coroutine
from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.resources.memory_servers.check_lines import CheckLine
    from memflow.resources.settings.own_sections import OwnMemory
    from memflow.resources.settings.settings import Settings

SERVER = "server"
"""The name of a memory server that is given as a command."""
COLORS = {"ok": "green", "wrong": "red", "note": "yellow", "skipped": "dim"}
COLUMNS: Columns = {
    "check": "name",
    "verdict": lambda line: Text(line.verdict, COLORS[line.verdict]),
    "found": "found",
    "what to do": lambda line: line.fix if line.verdict in ("wrong", "note") else "",
}


def check(
    ctx: typer.Context,
    words: Annotated[
        list[str], argument("MEMORY|COMMAND...", f"A memory: its name, {ANY_NAME}; or the server's command.")
    ],
    form: FormatOption = Format.table,
) -> None:
    """Check a memory: what it declares, whether it keeps its texts apart, and whether reads change it.

    A memory server is started and asked with made-up messages; a memory in Python uses the models of the settings.
    Put `--` before a command with options. Exit with code 1 if a line is wrong. [memories.NAME] in memflow.toml sets
    the environment variables and time limits of a server.
    """
    from memflow.resources.settings.own_sections import OwnMemory

    command = words if len(words) > 1 else shlex.split(words[0])
    if len(command) > 1 or ("/" in words[0] and ":" not in words[0]):
        name = SERVER
        lines = _check_command(OwnMemory(command=tuple(command), folder=Path.cwd()))
    else:
        settings, [name] = with_own_memories(front_of(ctx), words)
        own = settings.memories.get(name)
        is_server = own is not None and own.is_server
        lines = check_named_server(settings, name) if is_server else _check_python(settings, name)
    counts: Counter[str] = Counter(line.verdict for line in lines)
    shown = ", ".join(f"{counts[verdict]} {verdict}" for verdict in COLORS if counts[verdict])
    rows = [line.as_dict() for line in lines]
    answer(
        form,
        {"memory": name, "ok": not counts["wrong"], "lines": rows},
        table_of(lines, COLUMNS, f"Memory {name}"),
        note(f"\n{shown}. What each line finds: docs/how-to/memory_server.md."),
        rows=rows,
    )
    if counts["wrong"]:
        raise typer.Exit(1)


def _check_command(own: "OwnMemory") -> "list[CheckLine]":
    """Check the memory server of a command, without models."""
    from memflow.resources.memory_servers.declaration import check_command, open_server
    from memflow.resources.memory_servers.server_checks import ServerChecks

    if wrong := check_command(SERVER, own):
        raise BadSettings(wrong.replace(f"`command` of [memories.{SERVER}]", "the command"))
    with tempfile.TemporaryDirectory(prefix="memflow-check-") as folder:
        starts = iter(range(1000))
        checks = ServerChecks(
            lambda: open_server(SERVER, own, Path(folder), log=f"{SERVER}/check.{next(starts)}")
        )
        return run_coroutine(checks.run())


def check_named_server(settings: "Settings", name: str, budget: Any = None) -> "list[CheckLine]":
    """Check a memory server of the settings with the models that it is given, and store the result."""
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.memory_servers.declaration import check_command
    from memflow.resources.models.memory_check import check_memory_server
    from memflow.resources.models.models import Models

    own = settings.memories[name]
    if own.command and (wrong := check_command(name, own)):
        raise BadSettings(wrong)
    settings.home.mkdir(parents=True, exist_ok=True)
    with Models(settings, SqlLedger(settings.ledger_url), budget) as models:
        return check_memory_server(models, name, own)


def _check_python(settings: "Settings", name: str) -> "list[CheckLine]":
    from memflow.chat.ledger import RequestContext
    from memflow.memories.registry import find
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.memory_servers.python_checks import PythonChecks
    from memflow.resources.models.models import Models
    from memflow.resources.settings.prompt_folders import activate_prompts

    memory = find(name, settings.own_memories())
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
