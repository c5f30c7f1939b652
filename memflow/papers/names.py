"""The names in the tables of papers: whether each domain, assistant, metric and published value exists."""

from collections.abc import Iterator

from memflow.benchmarks import registry
from memflow.errors import BadInput
from memflow.memories.registry import find
from memflow.papers.files import TableOfPaper, published_values
from memflow.papers.schema import CellFields
from memflow.scoring.catalog import SHARED, declared_metrics, find_metric
from memflow.suggestions import unknown_name


def problems(table: TableOfPaper) -> Iterator[str]:
    """Yield a sentence for each wrong name of a table: domain, assistant, metric, variant, row and column.

    If the paper's values of the table are in `paper.csv`, each row and each column has one.
    """
    for row in table.cells:
        for cell in row:
            if cell.fields.unavailable is None and not table.table.unavailable:
                for fault in _faults(cell.fields):
                    yield f"{table.reference}, row {cell.row!r}, column {cell.column!r}: {fault}"
    for name in table.table.assistants:
        yield from (f"{table.reference}, assistants: {fault}" for fault in _unknown_assistant(name))
    has_values = any(value.table == table.name for value in published_values(table.benchmark))
    lines = [*table.cells, *zip(*table.cells, strict=True)] if has_values else []
    for at, line in enumerate(lines):
        if not any(cell.published for cell in line):
            kind, label = ("row", line[0].row) if at < len(table.cells) else ("column", line[0].column)
            yield f"{table.reference}, {kind} {label!r}: paper.csv has none of its values. Fix `published`."


def _faults(fields: CellFields) -> Iterator[str]:
    needed = ("domain", "value") if fields.view else ("domain", "assistant", "metric")
    if lacking := [name for name in needed if getattr(fields, name) is None]:
        yield f"{', '.join(lacking)} is missing. Name it, or state why it is `unavailable`."
        return
    if fields.assistant:
        yield from _unknown_assistant(fields.assistant)
    if fields.domain is None or fields.domain not in registry.domains():
        yield unknown_name("domain", str(fields.domain), registry.domains(), "memflow domains")
        return
    if fields.view and fields.view not in registry.views():
        yield unknown_name("view", fields.view, registry.views(), "memflow show")
    if fields.view or fields.metric is None:
        return
    benchmark = registry.domains()[fields.domain].benchmark
    plain = fields.metric.partition("[")[0]
    metrics = {metric.name for metric in (*SHARED, *declared_metrics(benchmark))}
    if plain not in metrics:
        owner = f"the domain {fields.domain}"
        yield unknown_name("metric", plain, metrics, owner=owner)
        return
    variants = {"standard", *find_metric(plain).variants}
    if (fields.variant or "standard") not in variants:
        yield unknown_name("variant", str(fields.variant), variants, owner=f"the metric {plain}")


def _unknown_assistant(name: str) -> Iterator[str]:
    try:
        find(name)
    except BadInput as wrong:
        yield str(wrong)
