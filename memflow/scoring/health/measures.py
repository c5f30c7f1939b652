"""The measures of a memory's health, in the order in which they explain each other."""

from collections.abc import Callable, Sequence

from memflow.memories.design import Design
from memflow.scoring.health.observations import EpisodeObservation
from memflow.scoring.health.reads import empty_reads, failed_reads
from memflow.scoring.health.states import Measurement

MEASURES: tuple[Callable[[Sequence[EpisodeObservation], Design], Measurement], ...] = (
    failed_reads,
    empty_reads,
)
