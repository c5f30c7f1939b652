"""The report of `memflow annotate report` as text and as data."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from memflow.rendering.tables import Column, Text, table_of
from memflow.rendering.texts import cut, first_lines, heading, interval_text, note

if TYPE_CHECKING:
    from memflow.annotation.report import Report
    from memflow.metrics.intervals import Interval

LONGEST_LABEL = 40
"""Characters of a label that are shown."""


def report_data(made: "Report") -> dict[str, Any]:
    """Return a report for JSON: the header's fields, `items`, `notes`, `measured`, `differing` and `judged`."""
    head = made.sheet.header
    return {
        **head.model_dump(exclude={"guide"}),
        "items": len(made.sheet.items),
        "notes": list(made.notes),
        "measured": [
            {
                "aspect": row.aspect,
                "of": row.of,
                "labelled": row.labelled,
                "paired": row.paired,
                **{name: getattr(row, name)._asdict() for name in ("mean", "agreement", "ac1", "kappa")},
            }
            for row in made.measured
        ],
        "differing": [judged.item for judged in made.judged if judged.differs],
        "judged": [asdict(judged) for judged in made.judged],
    }


def report_text(made: "Report") -> Iterator[RenderableType]:
    """Yield the heading, the table, the items on which persons differ, and the notes of a report."""
    head = made.sheet.header
    whose = f", {head.assistant}" if head.assistant else ""
    yield heading(f"{head.title}: {head.domain}{whose}")
    yield note(
        f"{len(made.sheet.items):,} items about {head.drawn:,} of {head.population:,} {head.units},"
        f" seed {head.seed}"
    )
    with_aspects = any(row.aspect for row in made.measured)
    yield table_of(made.measured, {"aspect": "aspect", **COLUMNS} if with_aspects else COLUMNS)
    yield from _differing(made)
    for remark in made.notes:
        yield Text(f"\n{remark}", "yellow")


def _ends(interval: "Interval") -> str:
    return interval_text(interval.low, interval.high, reason=interval.reason)


COLUMNS: dict[str, Column] = {
    "labels of": "of",
    "labelled": "labelled",
    "mean": lambda row: row.mean.value,
    "95 %": lambda row: _ends(row.mean),
    "pairs": lambda row: row.paired or None,
    "agreement": lambda row: row.agreement.value,
    "AC1": lambda row: row.ac1.value,
    "95 % of AC1": lambda row: _ends(row.ac1),
    "kappa": lambda row: row.kappa.value,
}


def _differing(made: "Report") -> Iterator[RenderableType]:
    differing = [judged for judged in made.judged if judged.differs]
    if differing:
        yield note(f"\n{len(differing):,} items on which persons differ:")
        yield from first_lines([f"{judged.item}  {_labels(judged.says)}" for judged in differing])


def _labels(by_person: Mapping[str, str]) -> str:
    return ", ".join(f"{person}: {cut(label, LONGEST_LABEL)}" for person, label in by_person.items())
