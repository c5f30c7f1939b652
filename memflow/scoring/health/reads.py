"""Reads that failed, and reads that returned nothing although the memory had content."""

from collections.abc import Sequence

from memflow.memories.design import Design
from memflow.scoring.health.observations import EpisodeObservation
from memflow.scoring.health.states import Measurement, not_measurable, share_measurement

NEARLY_ALL = 0.9
"""From this share of failed or empty reads on, the score is that of an assistant without memory."""
EMPTY = 0.5


def failed_reads(episodes: Sequence[EpisodeObservation], design: Design) -> Measurement:
    """Measure the reads that raised an error or timed out."""
    reads = [read for episode in episodes for read in episode.reads]
    if not reads:
        return not_measurable("failed_reads", "no probe was read")
    failed = [read.probe_id for read in reads if read.failure]
    statement = f"{len(failed)} of {len(reads)} reads failed"
    return share_measurement("failed_reads", failed, len(reads), statement, faulty=NEARLY_ALL, suspect=0.1)


def empty_reads(episodes: Sequence[EpisodeObservation], design: Design) -> Measurement:
    """Measure the reads that returned nothing although entries were live."""
    reads = [read for episode in episodes for read in episode.reads if read.live and not read.failure]
    if not reads:
        return not_measurable("empty_reads", "no read found the memory with an entry")
    empty = [read.probe_id for read in reads if read.empty]
    statement = f"{len(empty)} of {len(reads)} reads were empty although entries were live"
    thresholds = {} if design.threshold else {"faulty": NEARLY_ALL, "suspect": EMPTY}
    return share_measurement("empty_reads", empty, len(reads), statement, **thresholds)
