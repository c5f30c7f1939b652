"""`memflow memories check`: check a memory server or a memory written in Python, line by line."""

import shlex
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from memflow.cli.options import ANY_NAME, argument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.operations.import_paths import is_address, with_own_memories
from memflow.operations.memory_checks import (
    SERVER,
    check_named_server,
    check_python_memory,
    check_server_command,
)
from memflow.rendering.tables import Columns, Text, table_of
from memflow.rendering.texts import note

COLORS = {"ok": "green", "wrong": "red", "note": "yellow", "skipped": "dim"}
COLUMNS: Columns = {
    "check": "check",
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

    command = words if len(words) > 1 or is_address(words[0]) else shlex.split(words[0])
    if len(command) > 1 or ("/" in words[0] and ":" not in words[0]):
        name = SERVER
        lines = check_server_command(OwnMemory(command=tuple(command), folder=Path.cwd()))
    else:
        settings, [name] = with_own_memories(front_of(ctx), words)
        own = settings.memories.get(name)
        is_server = own is not None and own.is_server
        lines = check_named_server(settings, name) if is_server else check_python_memory(settings, name)
    counts: Counter[str] = Counter(line.verdict for line in lines)
    shown = ", ".join(f"{counts[verdict]} {verdict}" for verdict in COLORS if counts[verdict])
    rows = [vars(line) for line in lines]
    print_result(
        form,
        {"memory": name, "ok": not counts["wrong"], "lines": rows},
        table_of(lines, COLUMNS, f"Memory {name}"),
        note(f"\n{shown}. What each line finds: docs/how-to/memory_server.md."),
        rows=rows,
    )
    if counts["wrong"]:
        raise typer.Exit(1)
