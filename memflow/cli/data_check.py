"""`memflow data check`: reads data sets and lists their counts and their quarantined records."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, note
from memflow.cli.own_data import check_files, is_path
from memflow.errors import BadInput

if TYPE_CHECKING:
    from resources.data.data_check import DataCheck

MOST_ITEMS = 5
"""Quarantined items of a data set that the text lists for each reason; JSON lists all."""
STYLES = {"valid": "green", "part": "yellow", "missing": "dim", "differs": "red", "rejected": "red"}
TITLES = {
    "valid": "valid",
    "part": "valid, a part of the published data set",
    "missing": "missing",
    "differs": "differs from the published data set",
    "rejected": "rejected",
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
    from resources.data.data_check import check_dataset
    from resources.data.library import Library

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
    failed = [each.dataset.name for each in checks if each.failed]
    answer(
        form,
        [_row(each) for each in checks],
        *(part for each in checks for part in _block(each)),
        note(f"\n{len(checks)} data sets checked, {_failed(failed)}."),
        *([note(ADVICE)] if failed else []),
    )
    if failed:
        raise typer.Exit(1)


ADVICE = (
    "A quarantined record is left out of every domain. Compare the file with its source; if both are equal, report the "
    "record to memflow as a defect of the published file."
)


def _failed(names: list[str]) -> str:
    return f"{len(names)} with problems: {', '.join(names)}" if names else "none with problems"


def _row(found: "DataCheck") -> dict[str, Any]:
    return {
        "dataset": found.dataset.name,
        "state": found.state,
        "searched": [{"path": path, "found": exists} for path, exists in found.searched.items()],
        "records": found.records,
        "counts": dict(found.counts),
        "published_counts": dict(found.dataset.counts),
        "quarantined": [
            {"file": each.file, "item": each.item, "reason": each.reason, "known_defect": each.known}
            for each in found.quarantined
        ],
        "problems": list(found.problems),
    }


def _block(found: "DataCheck") -> list[RenderableType]:
    """Return the text of one data set: its state, the searched paths, counts, quarantined items and problems."""
    lines: list[RenderableType] = [
        Text.assemble("\n", (found.dataset.name, "bold"), "  ", (TITLES[found.state], STYLES[found.state]))
    ]
    lines += [
        _line(f"{'found' if exists else 'not found'}: {path}", "dim")
        for path, exists in found.searched.items()
    ]
    if found.state in ("missing", "rejected"):
        return lines + [_line(each, "red") for each in found.problems]
    lines.append(_line("; ".join([f"{found.records:,} records", *_counts(found)])))
    if found.quarantined:
        lines.append(_line(f"{len(found.quarantined):,} quarantined:"))
    for known, items in _by_defect(found).items():
        lines.append(_line(f"{len(items):,} {known or 'not known'}", "" if known else "red", 4))
        lines += [_line(each, "dim", 6) for each in items[:MOST_ITEMS]]
        if len(items) > MOST_ITEMS:
            lines.append(_line(f"and {len(items) - MOST_ITEMS:,} more", "dim", 6))
    return lines + [_line(each, "red") for each in found.problems]


def _counts(found: "DataCheck") -> list[str]:
    published = found.dataset.counts
    return [
        f"{count:,} of {published[unit]:,} published {unit}" if unit in published else f"{count:,} {unit}"
        for unit, count in found.counts.items()
        if unit != "records"
    ]


def _by_defect(found: "DataCheck") -> dict[str, list[str]]:
    """Return the quarantined items as text, grouped by known defect."""
    groups: dict[str, list[str]] = {}
    for each in found.quarantined:
        place = f"{each.file}, " if each.file else f"{each.item}: "
        groups.setdefault(each.known, []).append(f"{place}{each.reason}")
    return groups


def _line(text: str, style: str = "", indent: int = 2) -> RenderableType:
    return Padding(Text(text, style), (0, 0, 0, indent), expand=False)
