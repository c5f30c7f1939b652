"""The measures of a memory's health as a Markdown table, worst first, for the UI."""

from collections.abc import Iterable

from memflow.control_characters import visible
from memflow.records import HealthMeasure
from memflow.scoring.health.states import STATES

_ESCAPED = str.maketrans({letter: f"\\{letter}" for letter in "\\`*[]<>|~"} | {"\n": " "})


def worst_first(rows: Iterable[HealthMeasure]) -> list[HealthMeasure]:
    """Return the measures by state, worst first, and otherwise in their order."""
    return sorted(rows, key=lambda row: STATES.index(row.state))


def seconds(row: HealthMeasure) -> str:
    """Return the percentiles of a latency in words; empty for another measure."""
    if not row.percentiles_s:
        return ""
    return ", ".join(
        f"p{at} {value:.3g} s" for at, value in zip((50, 95, 99), row.percentiles_s, strict=True)
    )


def full_statement(row: HealthMeasure) -> str:
    """Return the statement of a measure, with the percentiles of a latency."""
    return f"{row.statement}: {seconds(row)}" if row.percentiles_s else row.statement


def health_markdown(rows: Iterable[HealthMeasure]) -> str:
    """Return the measures as a Markdown table."""
    lines = ["| measure | state | statement | examples |", "|---|---|---|---|"]
    for row in worst_first(rows):
        cells = (row.measure, row.state, full_statement(row), ", ".join(row.examples))
        lines.append(f"| {' | '.join(visible(cell).translate(_ESCAPED) for cell in cells)} |")
    return "\n".join(lines)
