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
    kinds = _searched_kinds(episodes)
    complete_reads = [
        (episode, read)
        for episode in episodes
        for read in episode.reads
        if not (read.failure or read.empty or read.cut_by_budget)
    ]
    counts = [sum(read.returned.get(kind, 0) for kind in kinds) for _, read in complete_reads]
    cap = max(counts, default=0)
    # Only a read that had more live entries than the largest count shows whether there is a cap.
    candidates = [
        (count, read)
        for count, (episode, read) in zip(counts, complete_reads, strict=True)
        if _count_available(episode, read, kinds) > cap
    ]
    if cap >= requested:
        statement = f"reads return up to {cap} items, and ask for {_limit(memory)}"
        return Measurement(measure, OK, statement, 0.0, len(counts))
    if len(candidates) < MIN_READS:
        return not_measurable(
            measure,
            f"only {len(candidates)} reads could return more than {cap} items",
            len(candidates),
        )
    frequencies = Counter(count for count, _ in candidates)
    ids = [read.probe_id for count, read in candidates if count == cap]
    state = OK
    if len(ids) >= FAULTY_CAP_SHARE * len(candidates):
        state = FAULTY
    elif len(ids) >= SUSPECT_CAP_SHARE * len(candidates) and frequencies[cap] > 5 * frequencies[cap - 1]:
        state = SUSPECT
    statement = (
        f"{len(ids)} of {len(candidates)} reads returned exactly {cap} items and none more, although "
        f"they asked for {_limit(memory)} and more entries were live"
    )
    return Measurement(measure, state, statement, len(ids) / len(candidates), len(candidates), ids)


def same_items(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the checkpoints at which every query got the same items, although there were others."""
    measure = "same_items"
    if not memory.ranks:
        return not_measurable(measure, "the memory does not search by design")
    searched_kinds = _searched_kinds(episodes)
    reads_by_checkpoint: dict[tuple[str, int], list[ProbeRead]] = defaultdict(list)
    for episode in episodes:
        for read in episode.reads:
            has_choice = sum(read.live.get(kind, 0) for kind in searched_kinds) > len(read.recalled)
            if has_choice and read.recalled and not read.failure:
                reads_by_checkpoint[episode.episode_id, read.sequence].append(read)
    read_groups = [
        reads for reads in reads_by_checkpoint.values() if len({read.query for read in reads}) >= 3
    ]
    if len(read_groups) < MIN_CHECKPOINTS and sum(map(len, read_groups)) < MIN_READS:
        return not_measurable(
            measure, "too few checkpoints have three queries and a choice of entries", len(read_groups)
        )
    constant_ids = [
        reads[0].probe_id for reads in read_groups if len({frozenset(read.recalled) for read in reads}) == 1
    ]
    statement = f"at {len(constant_ids)} of {len(read_groups)} checkpoints, every query got the same items"
    return share_measurement(measure, constant_ids, len(read_groups), statement, suspect=CONSTANT_SHARE)


def stale_reads(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the reads that return no new entries: as a cache does, or an index that is filled too late."""
    measure = "stale_reads"
    if any(episode.hides_items for episode in episodes):
        return not_measurable(measure, "the memory server does not export its items")
    searched_kinds = _searched_kinds(episodes)
    measurements = []
    new_entries = cache(_live_since)
    for window, (window_name, state_of_window) in _WINDOWS.items():
        expected_count, new_returned, reads = 0.0, 0, []
        for episode, read, start in window(episodes):
            for kind in searched_kinds:
                live_count, recalled_count = read.live.get(kind, 0), read.returned.get(kind, 0)
                if live_count and recalled_count:
                    new_count = new_entries(episode, kind, start, read.sequence)
                    expected_count += recalled_count * new_count / live_count  # of a random choice
            recalled_entries = [episode.entries[name] for name in read.recalled if name in episode.entries]
            new_returned += sum(entry.since > start for entry in recalled_entries)
            reads.append(read.probe_id)
        if expected_count < MIN_EXPECTED:
            continue
        statement = f"{len(reads)} reads returned {new_returned} entries that were written {window_name}"
        statement += f"; chance gives {expected_count:.0f}"
        is_stale = new_returned <= STALE_SHARE * expected_count
        state, affected = (state_of_window, reads) if is_stale else (OK, [])
        measurements.append(
            Measurement(measure, state, statement, new_returned / expected_count, len(reads), affected)
        )
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
    sloped_reads = [read for episode in episodes for read in episode.reads if read.slope]
    if len(sloped_reads) < MIN_READS:
        return not_measurable(
            measure,
            f"only {len(sloped_reads)} reads returned items with more and with fewer words of their query",
            len(sloped_reads),
        )
    reversed_ids = [read.probe_id for read in sloped_reads if read.slope is not None and read.slope < 0]
    statement = (
        f"in {len(reversed_ids)} of {len(sloped_reads)} reads, the second half of the items has more words of the "
        "query than the first half"
    )
    return share_measurement(measure, reversed_ids, len(sloped_reads), statement, suspect=REVERSED)


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


def _count_available(episode: EpisodeObservation, read: ProbeRead, searched_kinds: frozenset[str]) -> int:
    """Return the number of entries that a read could return; for a server that hides its items, of messages."""
    if episode.hides_items:
        return sum(message.sequence < read.sequence for message in episode.messages)
    return sum(read.live.get(kind, 0) for kind in searched_kinds)


def _limit(memory: MemoryTraits) -> str:
    return str(memory.k) if memory.k else "all"


def _live_since(episode: EpisodeObservation, kind: str, start: int, end: int) -> int:
    """Return how many entries of a kind were written after `start`, at the latest at `end`, and are live at `end`."""
    return sum(
        entry.kind == kind and start < entry.since <= end and (entry.until is None or entry.until > end)
        for entry in episode.entries.values()
    )


_ReadsWithStart = Iterator[tuple[EpisodeObservation, ProbeRead, int]]


def _reads_after_first_read(episodes: Sequence[EpisodeObservation]) -> _ReadsWithStart:
    """Yield the later reads that recalled something, each with the sequence number of its episode's first read."""
    for episode in episodes:
        first_moment = min((read.sequence for read in episode.reads), default=0)
        yield from (
            (episode, read, first_moment)
            for read in episode.reads
            if read.sequence > first_moment and read.recalled
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
    """Yield reads with a recall after at least two writes, each with the sequence number just before the last write."""
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
