"""The tables in pages of prose that are generated from the code. Tests compare them with the pages."""

from collections.abc import Iterable, Sequence

from memflow.benchmarks.protocol import ProtocolPoint
from memflow.benchmarks.registry import specs
from memflow.pipeline import STEPS, WRITERS
from memflow.scoring.catalog import SHARED, catalog, declared_metrics


def markdown_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    columns = [*columns]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(cells)} |" for cells in rows)])


def pipeline_table() -> str:
    """Return the steps of the pipeline (docs/architecture.md)."""
    columns = ("step", "tables", "partition", "inputs", "models", "what it does")
    return markdown_table(
        columns,
        (
            (
                f"`{step.name}`",
                _table_names(step.writes),
                step.scope,
                _table_names(step.inputs),
                ", ".join(step.models),
                step.description,
            )
            for step in STEPS
        ),
    )


def _table_names(tables: Iterable[str]) -> str:
    """Return table names as Markdown code; all tables of one stage are abbreviated, for example to `state.*`."""
    names = list(tables)
    for stage in {table.partition(".")[0] for table in names}:
        of_stage = [table for table in WRITERS if table.startswith(f"{stage}.")]
        if len(of_stage) > 1 and set(of_stage) <= set(names):
            names = [
                f"{stage}.*" if table == of_stage[0] else table
                for table in names
                if table not in of_stage[1:]
            ]
    return ", ".join(f"`{name}`" for name in names)


def metrics_table() -> str:
    """Return the metrics of memflow: shared ones first, then those of benchmarks by name (docs/metrics.md)."""
    shared = [metric.name for metric in SHARED]
    own = {metric.name for spec in specs() for metric in declared_metrics(spec.name)}
    rows = []
    for metric in (catalog()[name] for name in (*shared, *sorted(own - {*shared}))):
        low, high = ("" if end is None else f"{end:g}" for end in (metric.low, metric.high))
        span = f"{low or '-∞'} to {high or '∞'}{f' {metric.unit}' if metric.unit else ''}"
        meaning = metric.description
        for variant, what in metric.variants.items():
            meaning += f" `{variant}`: {what}."
        cells = (meaning, metric.direction, span, ", ".join(sorted(metric.primary_for)), metric.source)
        rows.append((f"`{metric.name}`", *cells))
    return markdown_table(("metric", "meaning", "better", "range", "primary for", "source"), rows)


def protocol_table(points: Sequence[ProtocolPoint]) -> str:
    """Return protocol points (docs/fidelity.md), without a column for the code if no code is public."""
    columns = {"topic": "topic", "paper": "paper", "published": "published code", "memflow": "memflow"}
    if not any(point.published for point in points):
        del columns["published"]
    return markdown_table(columns.values(), ([getattr(point, name) for name in columns] for point in points))
