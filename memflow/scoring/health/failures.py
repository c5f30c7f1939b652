"""The detector without a list: where writes and reads fail, and whether a healthy memory would fail there, too.

A significant split alone is no fault, since hard questions are hard. A memory is suspect if one side of a split fails
nearly always where a BM25 search over the same stored entries succeeds (reads), or where other messages of the same
episodes were kept (writes).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from memflow.scoring.health.concentration import LEVEL, Flags, Split, find_splits
from memflow.scoring.health.observations import EpisodeObservation, MemoryTraits, ProbeRead
from memflow.scoring.health.reads import MIN_BM25_SHARE, MIN_READS, Search
from memflow.scoring.health.states import FAULTY, OK, SUSPECT, Measurement, State, not_measurable
from memflow.scoring.health.writes import unknown_contents

FAILING_SHARE = 0.95
"""Share of a side that must fail. A hard side of a healthy search fails at most .92 on published conversations."""
SUCCEEDING_SHARE = 0.5
"""Share of the other side that must succeed before a split that no permutation can test counts."""
MIN_OF_BOTH = 5
"""Failures and successes that a split needs."""
MAX_SEARCHED = 200
"""Reads of a side that are compared with BM25 at most."""


def lost_writes(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Find the property of messages that explains best which of them are not stored."""
    measure = "lost_writes"
    if reason := unknown_contents(episodes):
        return not_measurable(measure, reason)
    rows = [
        (episode.episode_id, message)
        for episode in episodes
        for message in episode.messages
        if not message.failed
    ]
    is_lost = np.array([not message.stored for _, message in rows], dtype=bool)
    if reason := _why_untestable(is_lost, "messages", "stored"):
        return _untestable_measurement(measure, is_lost, reason)
    properties: dict[str, Sequence[Any]] = {
        "role": [m.role for _, m in rows],
        "digits": [m.text.digits for _, m in rows],
        "letters of another script": [m.text.other_script for _, m in rows],
        "the words of an earlier message": [m.repeats for _, m in rows],
        "of {} words": [m.text.words for _, m in rows],
        "of {} characters": [m.text.characters for _, m in rows],
        "after {} messages of the episode": [m.position - 1 for _, m in rows],
        "after {} sessions": [m.session for _, m in rows],
    }
    splits = find_splits(is_lost, properties, [name for name, _ in rows])
    split = _alarming_split(splits, is_lost)
    state: State = OK
    if split is not None and not memory.design.merges and not _is_by_design(split, memory):
        state = SUSPECT if (~is_lost[~split.side]).mean() >= SUCCEEDING_SHARE else OK
    split = split or next(iter(splits), None)
    if split is None:
        return not_measurable(measure, "no property of the messages varies enough", len(rows))
    ids = [
        message.message_id
        for (_, message), in_side, lost_message in zip(rows, split.side, is_lost, strict=True)
        if in_side and lost_message
    ]
    return _split_measurement(measure, state, "messages", "stored", split, is_lost, ids)


def missed_reads(episodes: Sequence[EpisodeObservation], memory: MemoryTraits, search: Search) -> Measurement:
    """Find the property of queries that explains best which reads recall no stored evidence."""
    measure = "missed_reads"
    reads = [
        read
        for episode in episodes
        for read in episode.reads
        if read.attribution is not None
        and read.attribution.recalled is not None
        and _has_evidence(episode, read)
    ]
    missed = np.array([not (read.attribution and read.attribution.recalled) for read in reads], dtype=bool)
    if len(reads) < MIN_READS:
        return not_measurable(measure, f"stored evidence is known for only {len(reads)} reads", len(reads))
    if missed.mean() >= FAILING_SHARE:
        everything = Split("of every kind", "", np.ones(len(reads), dtype=bool))
        return _compare_with_bm25(measure, everything, reads, missed, memory, search)
    if reason := _why_untestable(missed, "reads with stored evidence", "recalled"):
        return _untestable_measurement(measure, missed, reason)
    splits = find_splits(missed, _query_properties(reads), [read.episode_id for read in reads])
    split = _alarming_split(splits, missed)
    if split is not None:
        return _compare_with_bm25(measure, split, reads, missed, memory, search)
    if not splits:
        return not_measurable(measure, "no property of the queries varies enough", len(reads))
    ids = [
        read.probe_id
        for read, in_side, is_missed in zip(reads, splits[0].side, missed, strict=True)
        if in_side and is_missed
    ]
    return _split_measurement(measure, OK, "queries", "recalled", splits[0], missed, ids)


def _has_evidence(episode: EpisodeObservation, read: ProbeRead) -> bool:
    """Return whether evidence is stored; for a server that does not export its items, whether it was sent."""
    if read.attribution is None:
        return False
    if episode.hides_items:
        return read.attribution.evidence > 0
    return bool(read.attribution.stored)


def _query_properties(reads: Sequence[ProbeRead]) -> Mapping[str, Sequence[Any]]:
    """Return candidate properties for `find_splits`: a value per read, by phrase. `reads` must not be empty.

    `{}` in a phrase is the threshold of a numeric property (`of more than 12 words`); a phrase without `{}` is a
    category.
    """
    return {
        "digits": [read.text.digits for read in reads],
        "letters of another script": [read.text.other_script for read in reads],
        **{name: [read.labels[name] for read in reads] for name in reads[0].labels},
        "of {} words": [read.text.words for read in reads],
        "of {} characters": [read.text.characters for read in reads],
        "after {} messages": [read.sequence for read in reads],
        "with {} messages since the evidence": [read.lag for read in reads],
        "with {} live entries": [sum(read.live.values()) for read in reads],
        "with {} messages of evidence": [
            read.attribution.evidence if read.attribution else 0 for read in reads
        ],
    }


def _compare_with_bm25(
    measure: str,
    split: Split,
    reads: Sequence[ProbeRead],
    missed: Flags,
    memory: MemoryTraits,
    search: Search,
) -> Measurement:
    """Return the measurement of a split whose one side fails nearly always, with the hits of BM25 on that side."""
    side = [read for read, in_side in zip(reads, split.side, strict=True) if in_side]
    ids = [
        read.probe_id
        for read, in_side, is_missed in zip(reads, split.side, missed, strict=True)
        if in_side and is_missed
    ]
    measurement = _split_measurement(measure, OK, "queries", "recalled", split, missed, ids)
    if not memory.ranks or memory.design.threshold:
        return measurement
    counts = [len(read.recalled) for read in side if read.recalled]
    k = round(sum(counts) / len(counts)) if counts else memory.k or 10
    hits = search(side[:: 1 + len(side) // MAX_SEARCHED], max(1, k))
    if len(hits) < MIN_READS or sum(hits.values()) < MIN_BM25_SHARE * len(hits):
        return measurement
    silent = sum(read.empty for read in side) >= FAILING_SHARE * len(side)
    statement = (
        f"{measurement.statement}; BM25 over the same entries recalls {sum(hits.values())} of {len(hits)}"
    )
    return replace(measurement, state=FAULTY if silent else SUSPECT, statement=statement)


def _alarming_split(splits: Sequence[Split], is_failure: Flags) -> Split | None:
    """Return the first significant split, or one that cannot be tested, whose side fails nearly always; or None."""
    for split in splits:
        if split.side.sum() < MIN_READS or is_failure[split.side].mean() < FAILING_SHARE:
            continue
        if split.p is None and (~is_failure[~split.side]).mean() >= SUCCEEDING_SHARE:
            return split
        if split.p is not None and split.p <= LEVEL:
            return split
    return None


def _is_by_design(split: Split, memory: MemoryTraits) -> bool:
    return len(memory.design.roles) == 1 and "the role" in split.label


def _why_untestable(is_failure: Flags, units: str, success: str) -> str:
    """Return why no split can be tested, such as too few rows, failures or successes; "" if one can."""
    if len(is_failure) < MIN_READS:
        return f"there are only {len(is_failure)} {units}"
    if is_failure.sum() < MIN_OF_BOTH:
        return f"{len(is_failure) - is_failure.sum()} of {len(is_failure)} {units} are {success}"
    if (~is_failure).sum() < MIN_OF_BOTH:
        return f"only {(~is_failure).sum()} of {len(is_failure)} {units} are {success}"
    return ""


def _untestable_measurement(measure: str, is_failure: Flags, reason: str) -> Measurement:
    """Return the measurement where no split can be tested.

    The state is `ok` if there are enough rows but few failures, and otherwise not measurable.
    """
    if len(is_failure) < MIN_READS or is_failure.sum() >= MIN_OF_BOTH:
        return not_measurable(measure, reason, len(is_failure))
    return Measurement(measure, OK, reason, float(is_failure.mean()), len(is_failure))


def _split_measurement(
    measure: str, state: State, units: str, success: str, split: Split, is_failure: Flags, ids: Sequence[str]
) -> Measurement:
    """Return the measurement of the failures on one side of a split, and its comparison with the other side."""
    verb = "stored" if units == "messages" else "read with success"
    failures_of_side, failures_of_others = is_failure[split.side], is_failure[~split.side]
    statement = (
        f"{units} {split.label}: {int((~failures_of_side).sum())} of {len(failures_of_side)} {success}"
    )
    if len(failures_of_others):
        statement += f", others {int((~failures_of_others).sum())} of {len(failures_of_others)}"
    if split.p is not None and split.p > LEVEL:
        statement = f"which {units} are {verb} depends on no property (best: {statement})"
        return Measurement(measure, state, statement, float(is_failure.mean()), len(is_failure))
    return Measurement(measure, state, statement, float(failures_of_side.mean()), len(is_failure), ids)
