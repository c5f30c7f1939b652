"""The items that reads returned: how many, always the same, never new ones, or in reversed order."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from memflow.scoring.health.observations import EpisodeObservation, MemoryTraits, ProbeRead
from memflow.scoring.health.states import (
    FAULTY,
    OK,
    SUSPECT,
    Measurement,
    State,
    not_measurable,
    share_measurement,
)

MIN_READS = 20
"""Reads that a measure of the returned items needs."""
FAULTY_CAP_SHARE, SUSPECT_CAP_SHARE = 0.5, 0.2
"""Share of reads that return the largest number ever returned, below `k`: a search by similarity returns k of more
entries, and one by words has no heap at its largest number."""
MIN_CHECKPOINTS = 5
"""Checkpoints with several queries that are needed to say that reads do not depend on the query."""
CONSTANT_SHARE = 0.9
MIN_EXPECTED, STALE_SHARE = 20, 0.02
"""Returned new entries that chance would give, and the share of them that a search of current entries exceeds."""
REVERSED = 0.9
"""Share of reads whose second half has more words of the query. A chronological order has about half of them."""


def item_cap(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the reads that return a fixed number of items, fewer than requested, although more entries were live."""
    measure = "item_cap"
    if memory.k is None:
        return not_measurable(measure, "the memory has no parameter `k`")
    reads = [read for episode in episodes for read in episode.reads]
    if sum(bool(read.failure) or read.empty for read in reads) > len(reads) / 2:
        return not_measurable(measure, "most reads failed or were empty", len(reads))
    requested = memory.k or math.inf
    if memory.design.max_items is not None:
        requested = min(requested, memory.design.max_items)
    searched = _searched_kinds(episodes)
    complete_reads = [
        (episode, read)
        for episode in episodes
        for read in episode.reads
        if not (read.failure or read.empty or read.cut_by_budget)
    ]
    counts = [sum(read.returned.get(kind, 0) for kind in searched) for _, read in complete_reads]
    largest = max(counts, default=0)
    # Only a read that had more live entries than the largest count shows whether there is a cap.
    tested = [
        (count, read)
        for count, (episode, read) in zip(counts, complete_reads, strict=True)
        if _available(episode, read, searched) > largest
    ]
    if largest >= requested:
        statement = f"reads return up to {largest} items, and ask for {_limit(memory)}"
        return Measurement(measure, OK, statement, 0.0, len(counts))
    if len(tested) < MIN_READS:
        return not_measurable(
            measure,
            f"only {len(tested)} reads could return more than {largest} items",
            len(tested),
        )
    frequencies = Counter(count for count, _ in tested)
    capped = [read.probe_id for count, read in tested if count == largest]
    state = OK
    if len(capped) >= FAULTY_CAP_SHARE * len(tested):
        state = FAULTY
    elif (
        len(capped) >= SUSPECT_CAP_SHARE * len(tested) and frequencies[largest] > 5 * frequencies[largest - 1]
    ):
        state = SUSPECT
    statement = (
        f"{len(capped)} of {len(tested)} reads returned exactly {largest} items and none more, although they "
        f"asked for {_limit(memory)} and more entries were live"
    )
    return Measurement(measure, state, statement, len(capped) / len(tested), len(tested), capped)


def same_items(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the checkpoints at which every query got the same items, although there were others."""
    measure = "same_items"
    if not memory.ranks:
        return not_measurable(measure, "the memory does not search by design")
    searched = _searched_kinds(episodes)
    reads_by_checkpoint: dict[tuple[str, int], list[ProbeRead]] = defaultdict(list)
    for episode in episodes:
        for read in episode.reads:
            has_choice = sum(read.live.get(kind, 0) for kind in searched) > len(read.recalled)
            if has_choice and read.recalled and not read.failure:
                reads_by_checkpoint[episode.episode_id, read.sequence].append(read)
    comparable = [reads for reads in reads_by_checkpoint.values() if len({read.query for read in reads}) >= 3]
    if len(comparable) < MIN_CHECKPOINTS and sum(map(len, comparable)) < MIN_READS:
        return not_measurable(
            measure, "too few checkpoints have three queries and a choice of entries", len(comparable)
        )
    constant = [
        reads[0].probe_id for reads in comparable if len({frozenset(read.recalled) for read in reads}) == 1
    ]
    statement = f"at {len(constant)} of {len(comparable)} checkpoints, every query got the same items"
    return share_measurement(measure, constant, len(comparable), statement, suspect=CONSTANT_SHARE)


def stale_reads(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the reads that return no new entries: as a cache does, or an index that is filled too late."""
    measure = "stale_reads"
    if any(episode.hides_items for episode in episodes):
        return not_measurable(measure, "the memory server does not export its items")
    searched = _searched_kinds(episodes)
    measurements = []
    new_entries = cache(_live_since)
    for window, (window_name, state_of_window) in _WINDOWS.items():
        expected, returned, reads = 0.0, 0, []
        for episode, read, start in window(episodes):
            for kind in searched:
                live_count, recalled_count = read.live.get(kind, 0), read.returned.get(kind, 0)
                if live_count and recalled_count:
                    new_count = new_entries(episode, kind, start, read.sequence)
                    expected += recalled_count * new_count / live_count  # of a random choice
            recalled = [episode.entries[name] for name in read.recalled if name in episode.entries]
            returned += sum(entry.since > start for entry in recalled)
            reads.append(read.probe_id)
        if expected < MIN_EXPECTED:
            continue
        statement = f"{len(reads)} reads returned {returned} entries that were written {window_name}"
        statement += f"; chance gives {expected:.0f}"
        is_stale = returned <= STALE_SHARE * expected
        state, affected = (state_of_window, reads) if is_stale else (OK, [])
        measurements.append(Measurement(measure, state, statement, returned / expected, len(reads), affected))
    if not measurements:
        return not_measurable(
            measure, "too few reads could return an entry that was new since an earlier one"
        )
    return next((row for row in measurements if row.affected), measurements[0])


def reversed_order(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the reads whose later items have more words of the query than their first."""
    measure = "reversed_order"
    servers = [episode.server for episode in episodes if episode.server is not None]
    if not memory.ranks or any(not server.ranked for server in servers):
        return not_measurable(measure, "the memory does not order its items by design")
    slopes = [read for episode in episodes for read in episode.reads if read.slope]
    if len(slopes) < MIN_READS:
        return not_measurable(
            measure,
            f"only {len(slopes)} reads returned items with more and with fewer words of their query",
            len(slopes),
        )
    reversed_ = [read.probe_id for read in slopes if read.slope is not None and read.slope < 0]
    statement = (
        f"in {len(reversed_)} of {len(slopes)} reads, the second half of the items has more words of the query than "
        "the first half"
    )
    return share_measurement(measure, reversed_, len(slopes), statement, suspect=REVERSED)


def _searched_kinds(episodes: Sequence[EpisodeObservation]) -> frozenset[str]:
    """Return the kinds of entries among which reads choose: some but not all of them were returned at some read."""
    kinds: set[str] = set()
    for episode in episodes:
        for read in episode.reads:
            kinds.update(
                kind
                for kind, count in read.returned.items()
                if kind not in read.live or count < read.live[kind]
            )
    return frozenset(kinds)


def _available(episode: EpisodeObservation, read: ProbeRead, searched: frozenset[str]) -> int:
    if episode.hides_items:
        return sum(message.sequence < read.sequence for message in episode.messages)
    return sum(read.live.get(kind, 0) for kind in searched)


def _limit(memory: MemoryTraits) -> str:
    return str(memory.k) if memory.k else "all"


def _live_since(episode: EpisodeObservation, kind: str, start: int, end: int) -> int:
    """Return how many live entries of a kind were written after `start`, up to `end`."""
    return sum(
        entry.kind == kind and start < entry.since <= end and (entry.until is None or entry.until > end)
        for entry in episode.entries.values()
    )


_ReadsWithStart = Iterator[tuple[EpisodeObservation, ProbeRead, int]]


def _reads_after_first_read(episodes: Sequence[EpisodeObservation]) -> _ReadsWithStart:
    for episode in episodes:
        first = min((read.sequence for read in episode.reads), default=0)
        yield from (
            (episode, read, first) for read in episode.reads if read.sequence > first and read.recalled
        )


def _reads_after_previous_read(episodes: Sequence[EpisodeObservation]) -> _ReadsWithStart:
    """Yield the reads that recalled something, each with the sequence number of the read before it."""
    for episode in episodes:
        moments = sorted({read.sequence for read in episode.reads})
        previous_moment = dict(zip(moments[1:], moments, strict=False))
        for read in episode.reads:
            if read.sequence in previous_moment and read.recalled:
                yield episode, read, previous_moment[read.sequence]


def _reads_after_last_write(episodes: Sequence[EpisodeObservation]) -> _ReadsWithStart:
    """Yield reads after at least two writes that recalled something, each with the start of its window.

    The start is the sequence number just before the last write.
    """
    for episode in episodes:
        write_sequences = sorted({entry.since for entry in episode.entries.values()})
        for read in episode.reads:
            past_writes = [sequence for sequence in write_sequences if sequence <= read.sequence]
            if len(past_writes) > 1 and read.recalled:
                yield episode, read, past_writes[-1] - 1


_WINDOWS: dict[Callable[[Sequence[EpisodeObservation]], _ReadsWithStart], tuple[str, State]] = {
    _reads_after_first_read: ("after the first checkpoint of their episode", FAULTY),
    _reads_after_previous_read: ("after the checkpoint before", FAULTY),
    _reads_after_last_write: ("by the last write before them", SUSPECT),
}
