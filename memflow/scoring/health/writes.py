"""Messages that were not written: failed writes, and messages that no entry came from."""

from collections import defaultdict
from collections.abc import Sequence

from memflow.scoring.health.observations import EpisodeObservation, GivenMessage, MemoryTraits
from memflow.scoring.health.states import (
    FAULTY,
    FAULTY_SHARE,
    MIN_OBSERVATIONS,
    OK,
    SUSPECT,
    Measurement,
    not_measurable,
    share_measurement,
    such_as,
)

SUSPECT_FAILED_SHARE = 0.1
"""Share of failed writes that the check `failed_writes_at_most_10_percent` warns of, too."""
LOST = 0.05
"""Share of messages that a memory which keeps everything may lose before it is suspect. Healthy ones lose none."""
SILENT, SILENT_SHARE = 10, 0.1
"""Messages, and share of an episode, that must be missing at its end: less may be a buffer that is not written yet."""
SILENT_MERGED, SILENT_MERGED_SHARE = 20, 0.5
"""The same for a memory that merges messages: it may find nothing to keep for a while."""


def failed_writes(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the messages whose write failed and that no entry came from."""
    messages = [message for episode in episodes for message in episode.messages]
    if len(messages) < MIN_OBSERVATIONS:
        return not_measurable("failed_writes", f"only {len(messages)} messages were given")
    failed = [message.message_id for message in messages if message.failed]
    reasons = [reason for episode in episodes for reason in episode.write_failures] if failed else []
    statement = f"the writes of {len(failed)} of {len(messages)} messages failed{such_as(reasons)}"
    return share_measurement(
        "failed_writes", failed, len(messages), statement, faulty=FAULTY_SHARE, suspect=SUSPECT_FAILED_SHARE
    )


def invalid_exports(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the episodes in which a memory server's export failed or had invalid items."""
    measure = "invalid_exports"
    played = [episode for episode in episodes if episode.server is not None]
    if not played:
        return not_measurable(measure, "the memory is no server")
    invalid = [episode.episode_id for episode in played if episode.export_failures]
    statement = f"in {len(invalid)} of {len(played)} episodes an export failed or had invalid items"
    statement += such_as([reason for episode in played for reason in episode.export_failures])
    return share_measurement(measure, invalid, len(played), statement, suspect=SUSPECT_FAILED_SHARE)


def stopped_storing(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the episodes from whose end nothing was stored, although earlier messages were."""
    if reason := unseen(episodes):
        return not_measurable("stopped_storing", reason)
    silent, share = (SILENT_MERGED, SILENT_MERGED_SHARE) if memory.design.merges else (SILENT, SILENT_SHARE)
    long, stopped = [], {}
    for episode in episodes:
        expected = _expected(episode, memory)
        stored = _last_stored(episode, expected, merges=memory.design.merges)
        tail = len(expected) - stored
        if len(expected) < silent:
            continue
        long.append((episode.episode_id, expected[0].sequence + len(expected)))
        dense = memory.design.merges or sum(m.stored for m in expected[:stored]) >= stored / 2
        # The first messages of an episode that continues another one were stored in that one.
        begun = stored or (expected[0].sequence > 0 and episode.entries)
        if begun and dense and tail >= max(silent, share * len(expected)):
            stopped[episode.episode_id] = (expected[0].sequence + stored, stored, len(expected))
    if not long:
        return not_measurable("stopped_storing", f"no episode has {silent} messages")
    first = min((moment for moment, _, _ in stopped.values()), default=0)
    comparable = [name for name, end in long if end >= first + silent]
    if not stopped:
        return Measurement("stopped_storing", OK, f"0 of {len(long)} episodes end unstored", 0.0, len(long))
    kept, total = (sum(counts[at] for counts in stopped.values()) for at in (1, 2))
    later = "" if len({moment for moment, _, _ in stopped.values()}) == 1 else " or a later one"
    return Measurement(
        "stopped_storing",
        FAULTY if len(stopped) >= FAULTY_SHARE * len(comparable) else SUSPECT,
        f"in {len(stopped)} of {len(comparable)} long episodes nothing is stored after message {first}{later}: "
        f"{kept} of {total} messages are stored",
        len(stopped) / len(comparable),
        len(comparable),
        [*stopped],
        len(stopped),
    )


def unstored_role(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the messages of a role of which nothing is stored, although the other role's are."""
    measure = "unstored_role"
    if reason := unseen(episodes) or _merging(memory):
        return not_measurable(measure, reason)
    by_role: dict[str, list[GivenMessage]] = defaultdict(list)
    for episode in episodes:
        for message in _expected(episode, memory):
            by_role[message.role].append(message)
    if len(by_role) < 2 or min(map(len, by_role.values())) < MIN_OBSERVATIONS:
        return not_measurable(
            measure, f"fewer than {MIN_OBSERVATIONS} messages of a second role should be stored"
        )
    shares = {
        role: sum(message.stored for message in of_role) / len(of_role) for role, of_role in by_role.items()
    }
    best = max(shares, key=lambda role: shares[role])
    lost = [
        role for role, share in shares.items() if share <= 1 - FAULTY_SHARE and shares[best] >= FAULTY_SHARE
    ]
    counts = ", ".join(
        f"{sum(message.stored for message in of_role)} of {len(of_role)} messages of the role {role}"
        for role, of_role in sorted(by_role.items())
    )
    affected = [message.message_id for role in lost for message in by_role[role] if not message.stored]
    n = sum(map(len, by_role.values()))
    return Measurement(
        measure,
        SUSPECT if lost else OK,
        f"stored are {counts}",
        len(affected) / n,
        n,
        affected,
        len(affected),
    )


def unstored_repeats(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the messages that nearly repeat an earlier one and are not stored, although others are.

    Repetitions are known for the episodes that lost a message.
    """
    measure = "unstored_repeats"
    if reason := unseen(episodes) or _merging(memory):
        return not_measurable(measure, reason)
    messages = [message for episode in episodes for message in _expected(episode, memory)]
    repeated = [message for message in messages if message.repeats]
    others = [message for message in messages if not message.repeats]
    if len(messages) >= MIN_OBSERVATIONS and all(message.stored for message in messages):
        return Measurement(measure, OK, f"all of {len(messages)} messages are stored", 0.0, len(messages))
    if len(repeated) < MIN_OBSERVATIONS or not others:
        return not_measurable(measure, f"only {len(repeated)} messages nearly repeat an earlier one")
    lost = [message.message_id for message in repeated if not message.stored]
    stored_share = sum(message.stored for message in others) / len(others)
    share = len(lost) / len(repeated)
    suspect = share >= 0.5 and stored_share >= FAULTY_SHARE and len(lost) >= MIN_OBSERVATIONS
    statement = (
        f"{len(lost)} of {len(repeated)} messages that nearly repeat an earlier one are not stored; "
        f"of the others, {stored_share:.0%} are"
    )
    return Measurement(measure, SUSPECT if suspect else OK, statement, share, len(repeated), lost, len(lost))


def forgotten_messages(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the stored messages that no entry contains any more at the end of their episode."""
    measure = "forgotten_messages"
    if reason := unseen(episodes) or _merging(memory):
        return not_measurable(measure, reason)
    window = memory.design.window
    stored = [
        message
        for episode in episodes
        for message in _expected(episode, memory)[-window if window else 0 :]
        if message.stored
    ]
    if len(stored) < MIN_OBSERVATIONS:
        return not_measurable(measure, f"only {len(stored)} messages are stored")
    gone = [message.message_id for message in stored if not message.live_at_end]
    statement = f"{len(gone)} of {len(stored)} stored messages are in no entry at the end of their episode"
    if window:
        statement += f" (of the newest {window}, which the memory keeps by design)"
    return share_measurement(measure, gone, len(stored), statement, suspect=LOST, at_least=MIN_OBSERVATIONS)


def unstored_messages(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the messages that no entry ever came from."""
    measure = "unstored_messages"
    if reason := unseen(episodes):
        return not_measurable(measure, reason)
    messages = [message for episode in episodes for message in _expected(episode, memory)]
    if len(messages) < MIN_OBSERVATIONS:
        return not_measurable(measure, f"only {len(messages)} messages should be stored")
    if not any(episode.entries for episode in episodes):
        ids = [message.message_id for message in messages]
        statement = f"none of {len(messages)} messages left an entry"
        return share_measurement(measure, ids, len(ids), statement, faulty=FAULTY_SHARE)
    if reason := _merging(memory):
        return not_measurable(measure, reason)
    lost = [message.message_id for message in messages if not message.stored]
    statement = f"{len(lost)} of {len(messages)} messages are in no entry"
    return share_measurement(
        measure, lost, len(messages), statement, faulty=FAULTY_SHARE, suspect=LOST, at_least=MIN_OBSERVATIONS
    )


def unseen(episodes: Sequence[EpisodeObservation]) -> str:
    """Return why the content of a memory is not known by message; empty if it is."""
    if any(episode.hides_items for episode in episodes):
        return "the memory server does not export its items"
    entries = [entry for episode in episodes for entry in episode.entries.values()]
    if entries and sum(bool(entry.sources) for entry in entries) < len(entries) / 2:
        return "most entries name no source message and have no message's text"
    if not any(episode.messages for episode in episodes):
        return "no message was given"
    return ""


def _merging(memory: MemoryTraits) -> str:
    return "the memory summarizes, selects or merges messages by design" if memory.design.merges else ""


def _expected(episode: EpisodeObservation, memory: MemoryTraits) -> list[GivenMessage]:
    """Return the messages that a memory of this design stores, without those whose write failed."""
    return [
        message for message in episode.messages if message.role in memory.design.roles and not message.failed
    ]


def _last_stored(episode: EpisodeObservation, expected: Sequence[GivenMessage], *, merges: bool) -> int:
    """Return the number of the last of these messages that is stored, or after which an entry of the memory changed."""
    if merges:
        moments = [moment for entry in episode.entries.values() for moment in (entry.since, entry.until or 0)]
        return sum(message.sequence < max(moments, default=0) for message in expected)
    return max((number for number, message in enumerate(expected, 1) if message.stored), default=0)
