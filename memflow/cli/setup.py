"""`init` writes the settings; `doctor` says what is missing, and how to mend it (health.py looks)."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from memflow.cli.output import Format, FormatOption, answer, message, note, table
from memflow.cli.selection import front_of
from memflow.errors import BadInput

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")]


def init(
    file: FileArgument = Path("memflow.toml"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    form: FormatOption = Format.text,
) -> None:
    """Write memflow.toml: every setting, explained, at its default."""
    from resources.settings import example

    if file.exists() and not force:
        raise BadInput(f"{file} is there already; --force writes over it")
    try:
        file.write_text(example(), encoding="utf-8")
    except OSError as wrong:
        raise BadInput(f"{file} cannot be written: {wrong.strerror}") from wrong
    steps = (
        ("memflow doctor", "is everything there?"),
        ("memflow run --demo", "the whole graph, with a scripted chat instead of a model"),
        ("memflow data", "which published data sets there are, and how to get them"),
        ("memflow plan", "what a run would cost, before it costs anything"),
        ("memflow run", "what the file asks for"),
    )
    answer(
        form,
        {"file": str(file.absolute()), "next": [command for command, _ in steps]},
        Text(f"{file} is written. Name your models in it, and who plays which role.\n"),
        table("Next", ("", ""), steps),
    )


def doctor(ctx: typer.Context, form: FormatOption = Format.text) -> None:
    """Look whether everything is there: Python, packages, settings, folders, data and models.

    Endpoints of the models in use are asked which models they serve, and nothing else. The exit code is 1
    where something that is needed is missing.
    """
    from memflow.cli.health import examine

    findings = examine(front_of(ctx))
    styles = {"ok": "green", "missing": "red", "absent": "yellow"}
    rows = [(Text(finding.state, styles[finding.state]), finding.what, finding.found) for finding in findings]
    answer(
        form,
        [finding.as_dict() for finding in findings],
        table("", ("", "what", "found"), rows),
        *(note(f"\n{finding.what}: {finding.mend}") for finding in findings if finding.mend),
    )
    missing = [finding for finding in findings if finding.state == "missing"]
    if missing:
        message(f"\nmemflow: {len(missing)} of what is needed is missing")
        raise typer.Exit(1)
