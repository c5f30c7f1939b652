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

ENOUGH = 20
"""Reads that a measure of the returned items needs."""
CAPPED, HEAPED = 0.5, 0.2
"""Share of reads that return the largest number ever returned, below `k`: a search by similarity returns k of more
entries, and one by words has no heap at its largest number."""
PLACES = 5
"""Checkpoints with several queries that are needed to say that reads do not depend on the query."""
SAME = 0.9
EXPECTED, OF_EXPECTED = 20, 0.02
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
    counts = [
        (
            sum(read.returned.get(kind, 0) for kind in searched),
            _available(episode, read, searched),
            read,
        )
        for episode in episodes
        for read in episode.reads
        if not (read.failure or read.empty or read.cut_by_budget)
    ]
    largest = max((count for count, _, _ in counts), default=0)
    tested = [(count, read) for count, available, read in counts if available > largest]
    if largest >= requested:
        statement = f"reads return up to {largest} items, and ask for {_limit(memory)}"
        return Measurement(measure, OK, statement, 0.0, len(counts))
    if len(tested) < ENOUGH:
        return not_measurable(
            measure,
            f"only {len(tested)} reads could return more than {largest} items",
            len(tested),
        )
    frequencies = Counter(count for count, _ in tested)
    capped = [read.probe_id for count, read in tested if count == largest]
    is_heap = len(capped) >= HEAPED * len(tested) and frequencies[largest] > 5 * frequencies[largest - 1]
    state = FAULTY if len(capped) >= CAPPED * len(tested) else SUSPECT if is_heap else OK
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
    if len(comparable) < PLACES and sum(map(len, comparable)) < ENOUGH:
        return not_measurable(
            measure, "too few checkpoints have three queries and a choice of entries", len(comparable)
        )
    constant = [
        reads[0].probe_id for reads in comparable if len({frozenset(read.recalled) for read in reads}) == 1
    ]
    statement = f"at {len(constant)} of {len(comparable)} checkpoints, every query got the same items"
    return share_measurement(measure, constant, len(comparable), statement, suspect=SAME)


def stale_reads(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the reads that return no new entries: as a cache does, or an index that is filled too late."""
    measure = "stale_reads"
    if any(episode.hides_items for episode in episodes):
        return not_measurable(measure, "the memory server does not export its items")
    searched = _searched_kinds(episodes)
    windows: list[tuple[float, int, list[str], str, State]] = []
    new_entries = cache(_live_since)
    for window, (name, state) in _WINDOWS.items():
        expected, returned, reads = 0.0, 0, []
        for episode, read, start in window(episodes):
            for kind in searched:
                total, recalled = read.live.get(kind, 0), read.returned.get(kind, 0)
                if not (total and recalled):
                    continue
                expected += recalled * new_entries(episode, kind, start, read.sequence) / total
            returned += sum(
                name in episode.entries and episode.entries[name].since > start for name in read.recalled
            )
            reads.append(read.probe_id)
        windows.append((expected, returned, reads, name, state))
    testable = [counts for counts in windows if counts[0] >= EXPECTED]
    if not testable:
        return not_measurable(
            measure, "too few reads could return an entry that was new since an earlier one"
        )
    worst = next((counts for counts in testable if counts[1] <= OF_EXPECTED * counts[0]), None)
    expected, returned, reads, name, state = worst or testable[0]
    statement = f"{len(reads)} reads returned {returned} entries that were written {name}; chance gives {expected:.0f}"
    share = returned / expected
    if worst is None:
        return Measurement(measure, OK, statement, share, len(reads))
    return Measurement(measure, state, statement, share, len(reads), reads)


def reversed_order(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the reads whose later items have more words of the query than their first."""
    measure = "reversed_order"
    servers = [episode.server for episode in episodes if episode.server is not None]
    if not memory.ranks or any(not server.ranked for server in servers):
        return not_measurable(measure, "the memory does not order its items by design")
    slopes = [read for episode in episodes for read in episode.reads if read.slope]
    if len(slopes) < ENOUGH:
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
    return frozenset(
        kind
        for episode in episodes
        for read in episode.reads
        for kind, count in read.returned.items()
        if count < read.live.get(kind, 0) or kind not in read.live
    )


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


_Window = Iterator[tuple[EpisodeObservation, ProbeRead, int]]


def _since_first_read(episodes: Sequence[EpisodeObservation]) -> _Window:
    for episode in episodes:
        first = min((read.sequence for read in episode.reads), default=0)
        yield from (
            (episode, read, first) for read in episode.reads if read.sequence > first and read.recalled
        )


def _since_last_read(episodes: Sequence[EpisodeObservation]) -> _Window:
    for episode in episodes:
        moments = sorted({read.sequence for read in episode.reads})
        before = dict(zip(moments[1:], moments, strict=False))
        yield from (
            (episode, read, before[read.sequence])
            for read in episode.reads
            if read.sequence in before and read.recalled
        )


def _in_last_write(episodes: Sequence[EpisodeObservation]) -> _Window:
    for episode in episodes:
        moments = sorted({entry.since for entry in episode.entries.values()})
        for read in episode.reads:
            past = [moment for moment in moments if moment <= read.sequence]
            if len(past) > 1 and read.recalled:
                yield episode, read, past[-1] - 1


_WINDOWS: dict[Callable[[Sequence[EpisodeObservation]], _Window], tuple[str, State]] = {
    _since_first_read: ("after the first checkpoint of their episode", FAULTY),
    _since_last_read: ("after the checkpoint before", FAULTY),
    _in_last_write: ("by the last write before them", SUSPECT),
}
