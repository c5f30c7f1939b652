"""The measures of a memory's health as a Markdown table, worst first, for the UI."""

from collections.abc import Iterable

from memflow.records import HealthMeasure
from memflow.scoring.health.states import STATES
from memflow.scoring.markdown import markdown_table


def worst_first(rows: Iterable[HealthMeasure]) -> list[HealthMeasure]:
    """Return the measures by state, worst first, and otherwise in their order."""
    return sorted(rows, key=lambda row: STATES.index(row.state))


def full_statement(row: HealthMeasure) -> str:
    """Return the statement of a measure, with the percentiles of a latency."""
    percentiles = zip((50, 95, 99), row.percentiles_s or (), strict=False)
    seconds = ", ".join(f"p{percent} {value:.3g} s" for percent, value in percentiles)
    return f"{row.statement}: {seconds}" if seconds else row.statement


def health_markdown(rows: Iterable[HealthMeasure]) -> str:
    """Return the measures as a Markdown table."""
    return markdown_table(
        ("measure", "state", "statement", "examples"),
        [(row.measure, row.state, full_statement(row), ", ".join(row.examples)) for row in worst_first(rows)],
    )
