"""Seconds of writes and reads: described, and never an alarm, since no bound holds for every memory."""

from collections.abc import Sequence

import numpy as np

from memflow.scoring.health.observations import EpisodeObservation, MemoryTraits
from memflow.scoring.health.states import OK, Measurement, not_measurable

PERCENTILES = (50, 95, 99)


def write_latency(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the seconds of writes: of model requests and of the memory's own computation."""
    seconds = [message.seconds for episode in episodes for message in episode.messages]
    return _latency("write_latency", "writes", seconds)


def read_latency(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the seconds of reads: of model requests and of the memory's own computation."""
    seconds = [read.seconds for episode in episodes for read in episode.reads]
    return _latency("read_latency", "reads", seconds)


def _latency(measure: str, operations: str, seconds: Sequence[float | None]) -> Measurement:
    timed = [value for value in seconds if value is not None]
    if not timed:
        return not_measurable(measure, f"no {operations} were timed")
    percentiles = [float(value) for value in np.percentile(timed, PERCENTILES)]
    statement = f"{len(timed)} {operations} were timed"
    return Measurement(measure, OK, statement, n=len(timed), percentiles_s=percentiles)
