"""All measures of a memory's health, in the order in which they explain each other."""

from collections.abc import Callable, Sequence

from memflow.scoring.health.contents import (
    altered_texts,
    cut_texts,
    foreign_entries,
    future_entries,
    retired_reads,
    reused_ids,
    unexported_reads,
)
from memflow.scoring.health.failures import lost_writes, missed_reads
from memflow.scoring.health.items import item_cap, reversed_order, same_items, stale_reads
from memflow.scoring.health.latency import read_latency, write_latency
from memflow.scoring.health.observations import EpisodeObservation, MemoryTraits
from memflow.scoring.health.reads import Search, empty_reads, failed_reads
from memflow.scoring.health.states import Measurement, not_measurable
from memflow.scoring.health.writes import (
    failed_writes,
    forgotten_messages,
    invalid_exports,
    stopped_storing,
    unstored_messages,
    unstored_repeats,
    unstored_role,
)

Measure = Callable[[Sequence[EpisodeObservation], MemoryTraits], Measurement]
SearchedMeasure = Callable[[Sequence[EpisodeObservation], MemoryTraits, Search], Measurement]

OF_WRITES: tuple[Measure, ...] = (
    failed_writes,
    invalid_exports,
    foreign_entries,
    future_entries,
    stopped_storing,
    reused_ids,
    unstored_role,
    lost_writes,
    unstored_repeats,
    forgotten_messages,
    unstored_messages,
    cut_texts,
    altered_texts,
)
SEARCHED: tuple[SearchedMeasure, ...] = (empty_reads, missed_reads)
"""The measures that compare reads with a BM25 search over the same entries."""
OF_READS: tuple[Measure | SearchedMeasure, ...] = (
    failed_reads,
    empty_reads,
    item_cap,
    same_items,
    stale_reads,
    retired_reads,
    unexported_reads,
    reversed_order,
    missed_reads,
)
OF_TIME: tuple[Measure, ...] = (write_latency, read_latency)
MEASURES = (*OF_WRITES, *OF_READS, *OF_TIME)
NAMES = tuple(measure.__name__ for measure in MEASURES)
"""The measures in the order of the rows."""


def measure_all(
    episodes: Sequence[EpisodeObservation], memory: MemoryTraits, search: Search
) -> list[Measurement]:
    """Return the measurements of a memory in a domain, in the order of NAMES."""
    return [
        measure(episodes, memory, search) if measure in SEARCHED else measure(episodes, memory)  # type: ignore[call-arg]
        for measure in MEASURES
    ]


def nothing_to_measure(reason: str) -> list[Measurement]:
    """Return a measurement per measure of a memory that stores nothing by design."""
    return [not_measurable(name, reason) for name in NAMES]
