"""`memflow init` and `memflow doctor`: write the settings, and check the environment (health.py)."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, message, note, table, write

STYLES = {"ok": "green", "missing": "red", "absent": "yellow", "damaged": "red"}
FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")]


def init(
    file: FileArgument = Path("memflow.toml"),
    data: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Your dialogues, a file or folder (JSONL, CSV, Parquet), as the domain; may be repeated.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    form: FormatOption = Format.table,
) -> None:
    """Write memflow.toml with every setting, its description and its default.

    With --data, the file has a domain of your own dialogues, and the command prints what it found in them.
    """
    if data:
        from memflow.cli.own_data import init_data

        init_data(file, data, force, form)
        return
    from memflow.resources.settings.settings import example

    write(file, example(), force)
    steps = (
        ("memflow doctor", "check the environment"),
        ("memflow run --demo", "run the pipeline with a scripted chat instead of a model"),
        ("memflow data", "list the data sets, and how to get them"),
        ("memflow plan", "estimate requests, tokens and cost of a run"),
        ("memflow run", "run the domains and assistants of the file"),
    )
    answer(
        form,
        {"file": str(file.absolute()), "next": [command for command, _ in steps]},
        Text(f"{file} is written. Add your models and assign the roles.\n"),
        table(("", ""), steps, "Next"),
    )


def doctor(
    ctx: typer.Context,
    full: Annotated[
        bool,
        typer.Option("--full", help="Read every byte of lake, ledger and memflow.duckdb."),
    ] = False,
    clean: Annotated[
        bool,
        typer.Option(
            "--clean",
            help="Only remove replaced rows that are older or larger than [history] in memflow.toml allows.",
        ),
    ] = False,
    form: FormatOption = Format.table,
) -> None:
    """Check settings, folders, data sets, models, benchmarks and memories, and the stored results.

    Each endpoint is only asked for the models that it serves. The exit code is 1 if a required item is missing, or if
    stored results are damaged.
    """
    if clean:
        from memflow.cli.stored_health import clean as remove_old_rows

        remove_old_rows(front_of(ctx).load(), form)
        return
    from memflow.cli.health import examine

    findings = examine(front_of(ctx), full=full)
    faults = {state: [finding.what for finding in findings if finding.state == state] for state in STYLES}
    rows = [(Text(finding.state, STYLES[finding.state]), finding.what, finding.found) for finding in findings]
    answer(
        form,
        [{**asdict(finding), "ok": finding.state == "ok"} for finding in findings],
        table(("", "what", "found"), rows),
        *(note(f"\n{finding.what}: {finding.fix}") for finding in findings if finding.fix),
        note("" if full else "\n`memflow doctor --full` reads every byte of the stored results."),
    )
    if missing := faults["missing"]:
        message(f"\nmemflow: {len(missing)} required items are missing; fix them as stated above")
    if damaged := dict.fromkeys(faults["damaged"]):
        message(f"\nmemflow: damaged: {', '.join(damaged)}; rebuild them as stated above")
    if missing or damaged:
        raise typer.Exit(1)
