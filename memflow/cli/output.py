"""Output of commands: results go to standard output in one of five formats; all other messages to standard error.

memflow/rendering/tables.py builds the tables in each format. Text for people shows control characters as symbols
(memflow/control_characters.py). JSON escapes them, and CSV contains them unchanged unless it goes to a terminal.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from memflow.control_characters import json_escaped, visible
from memflow.errors import BadInput
from memflow.operations.messages import terminal_console
from memflow.rendering.tables import csv_text, latex_text, markdown_text


class Format(StrEnum):
    """The formats of a command's result."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


DOCUMENTS = (Format.markdown, Format.latex)
"""The formats of tables for papers and other documents."""
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        help="table, for people; json or csv, for programs; markdown or latex (booktabs), for documents.",
    ),
]


def print_result(
    form: Format, data: Any, *parts: RenderableType, rows: Sequence[Mapping[str, Any]] | None = None
) -> None:
    """Print a result to standard output: `data` as JSON, or the tables and texts in `parts` in another format.

    CSV contains `rows`; without them, `data` if it is a list of mappings, else the tables in `parts`, else the values
    of `data`. Texts in `parts` are not in CSV.
    """
    if form is Format.table:
        console = terminal_console()
        for part in parts:
            console.print(part)
        return
    match form:
        case Format.csv:
            text = csv_text(data, parts, rows)
            text = visible(text) if sys.stdout.isatty() else text
        case Format.markdown:
            text = markdown_text(parts)
        case Format.latex:
            text = latex_text(parts)
        case _:
            text = json_escaped(json.dumps(data, ensure_ascii=False, indent=2, default=str)) + "\n"
    typer.echo(text, nl=False)


def write(file: Path, content: str | bytes, force: bool) -> None:
    """Write a file atomically. Raises BadInput if the file exists (unless `force`) or cannot be written."""
    if file.exists() and not force:
        raise BadInput(f"{file} already exists. Overwrite it with --force, or choose another file.")
    beside = file.with_name(f"{file.name}.part")
    try:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        beside.replace(file)
    except OSError as wrong:
        raise BadInput(
            f"cannot write {file} ({wrong.strerror}). Choose another file, or make the folder writable."
        ) from wrong
