"""Content that differs from the messages: cut or altered texts, other episodes, the future, ids used twice."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from memflow.memories.server.mirror import is_unstored
from memflow.scoring.health.observations import EpisodeObservation, GivenMessage, MemoryTraits, ProbeRead
from memflow.scoring.health.states import (
    FAULTY,
    MIN_OBSERVATIONS,
    OK,
    SUSPECT,
    Measurement,
    not_measurable,
    share_measurement,
)

SUSPECT_CUT_SHARE = 0.02
"""Share of cut messages. A memory that stores messages cuts none, and one that stores chunks has the rest elsewhere."""
MIN_VERBATIM_SHARE = 0.5
"""Share of stored messages whose text must be in their entries before a loss of it can be seen."""
FAULT_SHARE, MIN_ALTERED_MESSAGES = 0.95, 10
"""A fault alters nearly every text that contains such characters. Fewer altered messages may be coincidence."""
LOSSES = {
    "digits": "numbers",
    "letters": "words of another script than ASCII",
    "case": "upper case",
    "marks": "punctuation",
}
OTHER_EPISODE, OF_FUTURE, RETIRED = "foreign_entries", "future_entries", "retired_reads"


def cut_texts(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the stored messages whose text is cut."""
    messages, reason = _verbatim_messages(episodes, memory)
    if reason:
        return not_measurable("cut_texts", reason, len(messages))
    cuts = [
        message for message in messages if message.losses and not message.losses.isdisjoint(("end", "start"))
    ]
    cut_ids = [message.message_id for message in cuts]
    intact_length = max((message.text.characters for message in messages if not message.losses), default=0)
    statement = f"{len(cuts)} of {len(messages)} stored texts lack the end or the start of their message"
    if cuts:
        shortest = min(message.text.characters for message in cuts)
        statement += f": cut are messages of {shortest} characters or more, and whole ones have at most {intact_length}"
    return share_measurement(
        "cut_texts", cut_ids, len(messages), statement, suspect=SUSPECT_CUT_SHARE, at_least=MIN_OBSERVATIONS
    )


def altered_texts(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the stored messages whose digits, letters, case or punctuation are missing from their entries."""
    messages, reason = _verbatim_messages(episodes, memory)
    if reason:
        return not_measurable("altered_texts", reason, len(messages))
    # Choose the loss with the largest share, among losses of at least MIN_ALTERED_MESSAGES messages; `total` counts
    # the messages that can have it, or all messages if there is no such loss.
    share, lost_content, altered_ids, total = 0.0, "parts", list[str](), len(messages)
    for loss, content in LOSSES.items():
        exposed_messages = [message for message in messages if loss in message.at_risk]
        ids = [message.message_id for message in exposed_messages if loss in (message.losses or ())]
        if len(ids) >= MIN_ALTERED_MESSAGES and len(ids) / len(exposed_messages) > share:
            total = len(exposed_messages)
            share, lost_content, altered_ids = len(ids) / total, content, ids
    state = SUSPECT if share >= FAULT_SHARE else OK
    statement = f"{len(altered_ids)} of {total} stored texts lack {lost_content} of their message"
    return Measurement("altered_texts", state, statement, share, total, altered_ids)


def foreign_entries(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the entries that came from a message of another episode."""
    return _measure_entries(
        OTHER_EPISODE,
        episodes,
        "foreign",
        "entries come from a message of another episode, which the memory must not know",
    )


def future_entries(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the entries that came from a later message than they were written."""
    measurement = _measure_entries(
        OF_FUTURE, episodes, "future", "entries come from a message that was given after them"
    )
    probe_ids = [
        read.probe_id
        for episode in episodes
        for read in episode.reads
        if not episode.hides_items and any(_is_future(episode, name, read) for name in read.recalled)
    ]
    if probe_ids:
        n = sum(len(episode.reads) for episode in episodes)
        statement = f"{len(probe_ids)} of {n} reads returned entries that were written after their checkpoint"
        return Measurement(OF_FUTURE, FAULTY, statement, len(probe_ids) / n, n, probe_ids)
    return measurement


def retired_reads(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the reads that returned an entry which had been retired before."""
    reads = [
        (episode, read)
        for episode in episodes
        for read in episode.reads
        if read.recalled and not episode.hides_items
    ]
    if not reads:
        return not_measurable(RETIRED, "no read returned an entry whose time is known")
    probe_ids = [
        read.probe_id
        for episode, read in reads
        if any(_is_retired(episode, name, read) for name in read.recalled)
    ]
    statement = (
        f"{len(probe_ids)} of {len(reads)} reads returned entries that the memory had replaced or deleted"
    )
    return share_measurement(RETIRED, probe_ids, len(reads), statement, faulty=0.5, suspect=0.01, at_least=3)


def unexported_reads(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the reads of a memory server that returned items which its export did not have at that moment."""
    measure = "unexported_reads"
    reads = [
        read
        for episode in episodes
        for read in episode.reads
        if episode.server is not None and not episode.hides_items and read.recalled
    ]
    if not reads:
        return not_measurable(measure, "the memory is no server that exports its items")
    probe_ids = [read.probe_id for read in reads if any(map(is_unstored, read.recalled))]
    statement = f"{len(probe_ids)} of {len(reads)} reads returned items that the server did not export then"
    return share_measurement(measure, probe_ids, len(reads), statement, faulty=0.5, suspect=0.01, at_least=3)


def reused_ids(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the ids that a memory server gave to items of different messages."""
    measure = "reused_ids"
    if memory.design.merges:
        return not_measurable(
            measure, "the memory merges messages by design, so an item may change its messages"
        )
    sources: dict[tuple[str, str], set[tuple[str, ...]]] = defaultdict(set)
    for episode in episodes:
        for entry in episode.entries.values():
            if entry.item_id is not None and entry.sources:
                sources[episode.episode_id, entry.item_id].add(entry.sources)
    if not sources:
        return not_measurable(measure, "no entry has an id of its own and a source")
    reused_item_ids = [item for (_, item), sources_of_item in sources.items() if len(sources_of_item) > 1]
    statement = f"{len(reused_item_ids)} of {len(sources)} item ids were used for items of different messages"
    return share_measurement(measure, reused_item_ids, len(sources), statement, suspect=0.05, at_least=3)


def _verbatim_messages(
    episodes: Sequence[EpisodeObservation], memory: MemoryTraits
) -> tuple[list[GivenMessage], str]:
    """Return the messages whose text is in their entries, and why texts cannot be compared ("" if they can)."""
    stored_messages = [message for episode in episodes for message in episode.messages if message.stored]
    messages = [message for message in stored_messages if message.losses is not None]
    if memory.design.merges:
        return messages, "the memory writes texts of its own by design"
    if len(messages) < max(MIN_OBSERVATIONS, MIN_VERBATIM_SHARE * len(stored_messages)):
        return (
            messages,
            f"only {len(messages)} of {len(stored_messages)} stored messages have their text in an entry",
        )
    return messages, ""


def _measure_entries(
    measure: str, episodes: Sequence[EpisodeObservation], attribute: str, property_text: str
) -> Measurement:
    """Measure the share of the entries with a source or a message's text that have the property `attribute`."""
    entries = [entry for episode in episodes for entry in episode.entries.values()]
    traced_entries = [entry for entry in entries if entry.sources or getattr(entry, attribute)]
    if not traced_entries:
        return not_measurable(measure, "no entry has a source message or a message's text")
    entry_ids = [entry.entry_id for entry in traced_entries if getattr(entry, attribute)]
    statement = f"{len(entry_ids)} of {len(traced_entries)} {property_text}"
    return share_measurement(measure, entry_ids, len(traced_entries), statement, faulty=0.0)


def _lifetimes(episode: EpisodeObservation, name: str) -> Iterator[tuple[int, int | None]]:
    """Yield (since, until) of the entries behind the recalled id of an unstored item.

    The entries of a server without an export begin with the read that first returned them, so nothing is known of an
    item before that.
    """
    if is_unstored(name) and not (episode.server is not None and episode.server.export == "none"):
        item = name.split(":", 2)[2]
        item_entries = (entry for entry in episode.entries.values() if entry.item_id == item)
        yield from ((entry.since, entry.until) for entry in item_entries)


def _is_future(episode: EpisodeObservation, name: str, read: ProbeRead) -> bool:
    """Return whether a recalled entry was written after the read; False if nothing is known of its time."""
    if (entry := episode.entries.get(name)) is not None:
        return entry.since > read.sequence
    lifetimes = [*_lifetimes(episode, name)]
    return bool(lifetimes) and all(since > read.sequence for since, _ in lifetimes)


def _is_retired(episode: EpisodeObservation, name: str, read: ProbeRead) -> bool:
    """Return whether a recalled entry was retired at the read or before; False if nothing is known of its time."""
    if (entry := episode.entries.get(name)) is not None:
        return entry.until is not None and entry.until <= read.sequence
    lifetimes = [*_lifetimes(episode, name)]
    return bool(lifetimes) and all(until is not None and until <= read.sequence for _, until in lifetimes)
