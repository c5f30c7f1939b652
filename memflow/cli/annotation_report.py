"""The report of `memflow annotate report` as text and as data."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from memflow.cli.output import Text, cut, heading, note, table

if TYPE_CHECKING:
    from memflow.annotation.report import AgreementRow, Report
    from memflow.metrics.intervals import Interval

LONGEST_LABEL = 40
"""Characters of a label that are shown."""
DIFFERING = 20
"""Maximum number of items on which persons differ that are shown."""


def report_data(made: "Report") -> dict[str, Any]:
    """Return a report for JSON output."""
    head = made.sheet.header
    return {
        **head.model_dump(exclude={"guide"}),
        "items": len(made.sheet.items),
        "notes": list(made.notes),
        "measured": [
            {
                "of": row.of,
                "labelled": row.labelled,
                "paired": row.paired,
                **{name: getattr(row, name)._asdict() for name in ("mean", "agreement", "ac1", "kappa")},
            }
            for row in made.measured
        ],
        "differing": [each.item for each in made.judged if each.differs],
        "judged": [asdict(each) for each in made.judged],
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
    columns = ("labels of", "labelled", "mean", "95 %", "pairs", "agreement", "AC1", "95 % of AC1", "kappa")
    yield table("", columns, [_row(row) for row in made.measured], right=columns[1:])
    yield from _differing(made)
    for remark in made.notes:
        yield Text(f"\n{remark}", "yellow")


def _row(row: "AgreementRow") -> Sequence[Any]:
    return (
        row.of,
        row.labelled,
        row.mean.value,
        _ends(row.mean),
        row.paired or None,
        row.agreement.value,
        row.ac1.value,
        _ends(row.ac1),
        row.kappa.value,
    )


def _ends(interval: "Interval") -> str:
    if interval.low is None or interval.high is None:
        return f"none: {interval.reason}" if interval.reason else ""
    return f"{interval.low:.3f} – {interval.high:.3f}"


def _differing(made: "Report") -> Iterator[RenderableType]:
    differing = [each for each in made.judged if each.differs]
    if not differing:
        return
    yield note(f"\n{len(differing):,} items on which persons differ:")
    rows = []
    for each in differing[:DIFFERING]:
        said = ", ".join(f"{who}: {cut(text, LONGEST_LABEL)}" for who, text in each.says.items())
        rows.append((each.item, said))
    yield table("", ("item", "labels"), rows)
    if len(differing) > DIFFERING:
        yield note(f"and {len(differing) - DIFFERING:,} more: --format json has them all")
