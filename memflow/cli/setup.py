"""`memflow init` and `memflow doctor`: write the settings, and check the environment (memflow/operations/doctor.py)."""

from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.options import front_of
from memflow.cli.output import Format, FormatOption, print_result, write
from memflow.errors import BadInput
from memflow.operations.messages import message
from memflow.rendering.tables import Text, table
from memflow.rendering.texts import note

if TYPE_CHECKING:
    from memflow.resources.settings.settings import Settings

STYLES = {"ok": "green", "missing": "red", "absent": "yellow", "damaged": "red"}
FileArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE", help="The file to write: memflow.toml. With --dagster the folder: this one."
    ),
]
PROJECT = ("pyproject.toml", "memory_benchmarks/__init__.py", "memory_benchmarks/definitions.py", "README.md")
"""The files of a Dagster project, beside memflow.toml, as in resources/dagster_project."""


def init(
    file: FileArgument = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Your dialogues, a file or folder (JSONL, CSV), as the domain; may be repeated.",
        ),
    ] = None,
    dagster: Annotated[
        bool,
        typer.Option(
            "--dagster", help="Write a Dagster project into a folder: memflow's assets, and your own."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    form: FormatOption = Format.table,
) -> None:
    """Write memflow.toml with every setting, its description and its default.

    With --data, the file has a domain of your own dialogues, and the command prints what it found in them. With
    --dagster, a project for `dg` and `dagster dev` is written around it.
    """
    if dagster:
        if data:
            raise BadInput("--dagster and --data write different files. Run `memflow init` once with each.")
        _init_project(file or Path(), force, form)
        return
    file = file or Path("memflow.toml")
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
    print_result(
        form,
        {"file": str(file.absolute()), "next": [command for command, _ in steps]},
        Text(f"{file} is written. Add your models and assign the roles.\n"),
        table(("", ""), steps, "Next"),
    )


def _init_project(folder: Path, force: bool, form: Format) -> None:
    """Write a Dagster project of five files, whose definitions merge those of memflow and an asset of the user's."""
    from memflow.resources.settings.settings import example

    template = files("memflow.resources").joinpath("dagster_project")
    texts = {name: template.joinpath(name).read_text(encoding="utf-8") for name in PROJECT}
    texts["memflow.toml"] = example()
    if there := [name for name in texts if (folder / name).exists() and not force]:
        raise BadInput(
            f"{folder.absolute()} already has {', '.join(there)}. Choose another folder, or overwrite with --force."
        )
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, text, force)
    steps = (
        (f"cd {folder}", "all commands are run in the folder"),
        ("pip install dagster-dg-cli", "Dagster's command `dg`"),
        ("memflow run --demo", "fill the leaderboard that the own asset reads"),
        ("dg list defs", "list memflow's assets and the own one"),
        ("memflow dev", "open the UI; or `dg dev`"),
    )
    print_result(
        form,
        {"folder": str(folder.absolute()), "files": [*texts], "next": [command for command, _ in steps]},
        Text(f"The Dagster project in {folder.absolute()} is written. Add assets in {PROJECT[2]}.\n"),
        table(("", ""), steps, "Next"),
    )


def doctor(
    ctx: typer.Context,
    full: Annotated[
        bool, typer.Option("--full", help="Read every byte of lake, ledger and memflow.duckdb.")
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
        _clean(front_of(ctx).load(), form)
        return
    from memflow.operations.doctor import examine

    findings = examine(front_of(ctx), full=full)
    faults = {state: [finding.what for finding in findings if finding.state == state] for state in STYLES}
    rows = [(Text(finding.state, STYLES[finding.state]), finding.what, finding.found) for finding in findings]
    print_result(
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


def _clean(settings: "Settings", form: Format) -> None:
    """Remove old replaced rows, and list them by table."""
    from memflow.operations.findings import clean

    sizes, stored = clean(settings)
    removed = sum(sizes.values())
    print_result(
        form,
        {"removed": sizes, "bytes": removed, "kept_bytes": stored},
        table(("table", "MB"), [(name, f"{size / 1e6:,.1f}") for name, size in sizes.items()]),
        note(f"{removed / 1e6:,.1f} MB were removed; {stored / 1e6:,.1f} MB of replaced rows are kept now."),
    )
