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


def _latency(measure: str, what: str, seconds: Sequence[float | None]) -> Measurement:
    timed = [value for value in seconds if value is not None]
    if not timed:
        return not_measurable(measure, f"no {what} were timed")
    percentiles = [float(value) for value in np.percentile(timed, PERCENTILES)]
    return Measurement(
        measure, OK, f"{len(timed)} {what} were timed", n=len(timed), percentiles_s=percentiles
    )
