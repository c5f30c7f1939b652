"""MemoryBench's published scores for `show partitions --paper`: rows by system, and notes on their origin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memflow.benchmarks.memorybench.paper import (
    RECOMPUTED,
    TABLES,
    PublishedCell,
    dataset_cells,
    published_scores,
    recomputed_cells,
    reference,
    table_cells,
)


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """The published scores of a system, by partition or by data set."""

    source: str
    system: str
    cells: Mapping[str, PublishedCell]


def partition_rows(*, macro: bool) -> list[PublishedRow]:
    """Return the rows of Tables 10 and 11, which are means over cases, and the rows computed from averages."""
    return _rows([*([] if macro else table_cells()), *recomputed_cells(macro=macro)])


def dataset_rows(partition: str, datasets: Sequence[str]) -> list[PublishedRow]:
    """Return rows with the scores of data sets of a partition, computed from the published averages."""
    return _rows([cell for cell in dataset_cells(partition) if cell.place in datasets])


def paper_notes(*, macro: bool) -> list[str]:
    """Return sentences about the published scores."""
    notes = [
        f"Published scores are of {reference().responses}, and the published judges.",
        f"`{RECOMPUTED}`: the averages by data set in the authors' summary file of October 2025, scaled as memflow "
        "scales its own. These are other runs than the tables', without Vanilla and Mem0 on open and LiSo.",
    ]
    tables = "are not shown: they have no means over data sets" if macro else f"are the rows `{TABLES}`"
    return [*notes, f"Tables 10 and 11 {tables}."]


def _rows(found: Sequence[PublishedCell]) -> list[PublishedRow]:
    by_system: dict[tuple[str, str], dict[str, PublishedCell]] = {}
    for cell in found:
        by_system.setdefault((cell.source, cell.system), {})[cell.place] = cell
    titles = published_scores().systems
    return [
        PublishedRow(source, titles[system], by_system[source, system])
        for source in dict.fromkeys(source for source, _ in by_system)
        for system in titles
        if (source, system) in by_system
    ]
