"""Reads that failed, and reads that returned nothing although the memory had content."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from memflow.scoring.health.observations import EpisodeObservation, MemoryTraits, ProbeRead
from memflow.scoring.health.states import (
    FAULTY,
    FAULTY_SHARE,
    MIN_OBSERVATIONS,
    OK,
    SUSPECT,
    Measurement,
    example_text,
    not_measurable,
    share_measurement,
)

SUSPECT_FAILED_SHARE = 0.1
"""Share of failed reads from which on a score lacks too many answers."""
MIN_READS = 20
"""Reads that must fail before they are compared with another search: statistics of fewer are noise."""
MIN_BM25_SHARE = 0.5
"""Share of these reads for which BM25 over the same entries must recall evidence: then the reads could succeed."""

Search = Callable[[Sequence[ProbeRead], int], Mapping[str, bool]]
"""Whether BM25 over the entries that were live at each read recalls its evidence among k items, by probe.

Reads without known evidence are missing.
"""


def failed_reads(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the reads that raised an error or timed out."""
    reads = [read for episode in episodes for read in episode.reads]
    if len(reads) < MIN_OBSERVATIONS:
        return not_measurable("failed_reads", f"only {len(reads)} probes were read", len(reads))
    failed_ids = [read.probe_id for read in reads if read.failure]
    reasons = [read.failure.partition("RecallFailed: ")[2] for read in reads if read.failure]
    statement = f"{len(failed_ids)} of {len(reads)} reads failed{example_text(reasons)}"
    return share_measurement(
        "failed_reads", failed_ids, len(reads), statement, faulty=FAULTY_SHARE, suspect=SUSPECT_FAILED_SHARE
    )


def empty_reads(episodes: Sequence[EpisodeObservation], memory: MemoryTraits, search: Search) -> Measurement:
    """Measure the reads that returned nothing although entries were live.

    If nearly all reads are empty, the memory is faulty. If fewer are, it is suspect only if BM25 over the same entries
    finds the evidence, because a search by words rightly returns nothing for a query whose words nobody used.
    """
    measure, content = "empty_reads", "entries were live"
    reads = [read for episode in episodes for read in episode.reads if read.live and not read.failure]
    if any(episode.hides_items for episode in episodes):
        content = "messages had been written"
        reads = [read for episode in episodes for read in episode.reads if read.sequence and not read.failure]
    if len(reads) < MIN_OBSERVATIONS:
        return not_measurable(measure, f"only {len(reads)} reads found the memory with content", len(reads))
    reads_without_items = [read for read in reads if read.empty]
    statement = f"{len(reads_without_items)} of {len(reads)} reads were empty although {content}"
    ids = [read.probe_id for read in reads_without_items]
    measurement = Measurement(measure, OK, statement, len(ids) / len(reads), len(reads), ids)
    if memory.design.threshold:
        return replace(measurement, statement=f"{statement}; the memory has a threshold by design")
    if len(reads_without_items) >= FAULTY_SHARE * len(reads):
        return replace(measurement, state=FAULTY)
    if len(reads_without_items) < MIN_READS:
        return measurement
    hits = search(reads_without_items, memory.k or 10)
    if len(hits) >= MIN_READS and sum(hits.values()) >= MIN_BM25_SHARE * len(hits):
        bm25 = f"; BM25 finds evidence in the same entries for {sum(hits.values())} of {len(hits)} of them"
        return replace(measurement, state=SUSPECT, statement=statement + bm25)
    return measurement
