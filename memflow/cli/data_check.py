"""`memflow data check`: reads data sets and lists their counts and their quarantined records."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, note
from memflow.cli.own_data import check_files, is_path
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.resources.data.data_check import DataCheck

STATES = {
    "valid": ("valid", "green"),
    "part": ("valid, a part of the published data set", "yellow"),
    "missing": ("missing", "dim"),
    "differs": ("differs from the published data set", "red"),
    "rejected": ("rejected", "red"),
}


def check(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Data sets, or files and folders of own dialogues. [all data sets]"
        ),
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Read all files of data sets, and list their counts, their quarantined records, and the searched paths.

    Exits with code 1 if a file is rejected, or if the counts or the quarantined records differ from the published
    data set and its known defects. Of files of own dialogues, it lists every problem with its line and field; any
    problem gives the exit code 1.
    """
    from memflow.resources.data.data_check import check_dataset
    from memflow.resources.data.library import Library

    settings = front_of(ctx).load()
    files = [name for name in names or () if name not in settings.datasets and is_path(name)]
    if files:
        if named := [name for name in names or () if name not in files]:
            raise BadInput(f"{named[0]} is a data set, and {files[0]} a file. Check them in two commands.")
        check_files(files, form)
        return
    library = Library(settings.data, settings.datasets)
    chosen = [library.dataset(name).name for name in names or ()] or list(library.known)
    checks = [check_dataset(library, library.known[name]) for name in chosen]
    failed = [result.dataset.name for result in checks if result.failed]
    advice = (
        "A quarantined record is left out of every domain; --format json lists all. Compare the file with its source; "
        "if both are equal, report the record to memflow as a defect of the published file."
    )
    answer(
        form,
        [_row(result) for result in checks],
        *(part for result in checks for part in _lines(result)),
        note(f"\n{len(checks)} data sets checked. With problems: {', '.join(failed) or 'none'}."),
        *([note(advice)] if failed else []),
    )
    if failed:
        raise typer.Exit(1)


def _row(result: "DataCheck") -> dict[str, Any]:
    return {
        "dataset": result.dataset.name,
        "state": result.state,
        "searched": [{"path": path, "found": exists} for path, exists in result.searched.items()],
        "records": result.records,
        "counts": dict(result.counts),
        "published_counts": dict(result.dataset.counts),
        "quarantined": [
            {"file": item.file, "item": item.item, "reason": item.reason, "known_defect": item.known}
            for item in result.quarantined
        ],
        "problems": list(result.problems),
    }


def _lines(result: "DataCheck") -> Iterator[RenderableType]:
    """Yield the text of one data set: its state, the searched paths, counts, problems and quarantined items."""
    yield Text.assemble("\n", (result.dataset.name, "bold"), "  ", STATES[result.state])
    for path, exists in result.searched.items():
        yield _line(f"{'found' if exists else 'not found'}: {path}", "dim")
    if result.state not in ("missing", "rejected"):
        published = result.dataset.counts
        counts = [
            f"{count:,} of {published[unit]:,} published {unit}" if unit in published else f"{count:,} {unit}"
            for unit, count in {"records": result.records, **result.counts}.items()
        ]
        yield _line("; ".join(counts))
    known = Counter(item.known for item in result.quarantined if item.known)
    for defect, count in known.items():
        yield _line(f"{count:,} quarantined, as known: {defect}", "dim")
    for problem in result.problems:
        yield _line(problem, "red")
    unknown = [item for item in result.quarantined if not item.known]
    if unknown:
        yield _line(f"{len(unknown):,} quarantined, such as {unknown[0].file or unknown[0].item}:", "red")
        yield _line(unknown[0].reason, "red")


def _line(text: str, style: str = "") -> RenderableType:
    return Padding(Text(text, style), (0, 0, 0, 2), expand=False)
