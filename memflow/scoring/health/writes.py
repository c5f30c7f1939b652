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
    example_text,
    not_measurable,
    share_measurement,
)

SUSPECT_FAILED_SHARE = 0.1
"""Share of failed writes that the check `failed_writes_at_most_10_percent` warns of, too."""
SUSPECT_LOST_SHARE = 0.05
"""Share of messages that a memory which keeps everything may lose before it is suspect. Healthy ones lose none."""
SUSPECT_REPEATS_SHARE = 0.5
"""Share of near-repeats that a memory may lose, while it stores the other messages, before it is suspect."""
SILENT, SILENT_SHARE = 10, 0.1
"""Messages, and share of an episode, that must be missing at its end: less may be a buffer that is not written yet."""
SILENT_MERGED, SILENT_MERGED_SHARE = 20, 0.5
"""The same for a memory that merges messages: it may find nothing to keep for a while."""


def failed_writes(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the messages whose write failed and that no entry came from."""
    messages = [message for episode in episodes for message in episode.messages]
    if len(messages) < MIN_OBSERVATIONS:
        return not_measurable("failed_writes", f"only {len(messages)} messages were given")
    ids = [message.message_id for message in messages if message.failed]
    reasons = [reason for episode in episodes for reason in episode.write_failures] if ids else []
    statement = f"the writes of {len(ids)} of {len(messages)} messages failed{example_text(reasons)}"
    return share_measurement(
        "failed_writes", ids, len(messages), statement, faulty=FAULTY_SHARE, suspect=SUSPECT_FAILED_SHARE
    )


def invalid_exports(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the episodes in which a memory server's export failed or had invalid items."""
    measure = "invalid_exports"
    server_episodes = [episode for episode in episodes if episode.server is not None]
    if not server_episodes:
        return not_measurable(measure, "the memory is no server")
    failing_episode_ids = [episode.episode_id for episode in server_episodes if episode.export_failures]
    total = len(server_episodes)
    statement = f"in {len(failing_episode_ids)} of {total} episodes an export failed or had invalid items"
    statement += example_text([reason for episode in server_episodes for reason in episode.export_failures])
    return share_measurement(measure, failing_episode_ids, total, statement, suspect=SUSPECT_FAILED_SHARE)


def stopped_storing(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the episodes from whose end nothing was stored, although earlier messages were."""
    if reason := unknown_contents(episodes):
        return not_measurable("stopped_storing", reason)
    merges = memory.design.merges
    threshold, share_threshold = (SILENT_MERGED, SILENT_MERGED_SHARE) if merges else (SILENT, SILENT_SHARE)
    ends = []
    stopped: dict[str, tuple[int, int, int]] = {}
    """By episode: (first sequence number from which nothing is stored, number of stored messages, of all messages)."""
    for episode in episodes:
        messages = _storable_messages(episode, memory)
        if len(messages) < threshold:
            continue
        start = messages[0].sequence
        stored_count = _last_stored(episode, messages, merges=merges)
        unstored_count = len(messages) - stored_count
        ends.append((episode.episode_id, start + len(messages)))
        stored_before = sum(message.stored for message in messages[:stored_count])
        mostly_stored = merges or stored_before >= stored_count / 2
        # The first messages of an episode that continues another one were stored in that one.
        has_stored = stored_count or (start > 0 and episode.entries)
        if has_stored and mostly_stored and unstored_count >= max(threshold, share_threshold * len(messages)):
            stopped[episode.episode_id] = (start + stored_count, stored_count, len(messages))
    if not ends:
        return not_measurable("stopped_storing", f"no episode has {threshold} messages")
    if not stopped:
        statement = f"0 of {len(ends)} episodes end unstored"
        return Measurement("stopped_storing", OK, statement, 0.0, len(ends))
    stops = {sequence for sequence, _, _ in stopped.values()}
    stop = min(stops)
    names = [name for name, end in ends if end >= stop + threshold]
    stored_sum = sum(stored_count for _, stored_count, _ in stopped.values())
    total = sum(message_count for _, _, message_count in stopped.values())
    suffix = "" if len(stops) == 1 else " or a later one"
    state = FAULTY if len(stopped) >= FAULTY_SHARE * len(names) else SUSPECT
    statement = (
        f"in {len(stopped)} of {len(names)} long episodes nothing is stored after message {stop}"
        f"{suffix}: {stored_sum} of {total} messages are stored"
    )
    share = len(stopped) / len(names)
    return Measurement("stopped_storing", state, statement, share, len(names), [*stopped])


def unstored_role(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the messages of a role of which nothing is stored, although the other role's are."""
    measure = "unstored_role"
    if reason := unknown_contents(episodes) or _merging_reason(memory):
        return not_measurable(measure, reason)
    messages_by_role: dict[str, list[GivenMessage]] = defaultdict(list)
    for episode in episodes:
        for message in _storable_messages(episode, memory):
            messages_by_role[message.role].append(message)
    if len(messages_by_role) < 2 or min(map(len, messages_by_role.values())) < MIN_OBSERVATIONS:
        return not_measurable(
            measure, f"fewer than {MIN_OBSERVATIONS} messages of a second role should be stored"
        )
    shares = {
        role: sum(message.stored for message in messages) / len(messages)
        for role, messages in messages_by_role.items()
    }
    lost_roles: list[str] = []
    if max(shares.values()) >= FAULTY_SHARE:
        lost_roles = [role for role, share in shares.items() if share <= 1 - FAULTY_SHARE]
    counts = ", ".join(
        f"{sum(message.stored for message in messages)} of {len(messages)} messages of the role {role}"
        for role, messages in sorted(messages_by_role.items())
    )
    affected = [
        message.message_id for role in lost_roles for message in messages_by_role[role] if not message.stored
    ]
    total = sum(map(len, messages_by_role.values()))
    state = SUSPECT if lost_roles else OK
    return Measurement(measure, state, f"stored are {counts}", len(affected) / total, total, affected)


def unstored_repeats(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the messages that nearly repeat an earlier one and are not stored, although others are.

    `message.repeats` is computed only in episodes that lost a message; in the others it is always false.
    """
    measure = "unstored_repeats"
    if reason := unknown_contents(episodes) or _merging_reason(memory):
        return not_measurable(measure, reason)
    messages = [message for episode in episodes for message in _storable_messages(episode, memory)]
    repeats = [message for message in messages if message.repeats]
    first_mentions = [message for message in messages if not message.repeats]
    if len(messages) >= MIN_OBSERVATIONS and all(message.stored for message in messages):
        return Measurement(measure, OK, f"all of {len(messages)} messages are stored", 0.0, len(messages))
    if len(repeats) < MIN_OBSERVATIONS or not first_mentions:
        return not_measurable(measure, f"only {len(repeats)} messages nearly repeat an earlier one")
    ids = [message.message_id for message in repeats if not message.stored]
    stored_share = sum(message.stored for message in first_mentions) / len(first_mentions)
    share = len(ids) / len(repeats)
    is_suspect = (
        share >= SUSPECT_REPEATS_SHARE and stored_share >= FAULTY_SHARE and len(ids) >= MIN_OBSERVATIONS
    )
    statement = (
        f"{len(ids)} of {len(repeats)} messages that nearly repeat an earlier one are not stored; "
        f"of the others, {stored_share:.0%} are"
    )
    return Measurement(measure, SUSPECT if is_suspect else OK, statement, share, len(repeats), ids)


def forgotten_messages(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the stored messages that no entry contains any more at the end of their episode."""
    measure = "forgotten_messages"
    if reason := unknown_contents(episodes) or _merging_reason(memory):
        return not_measurable(measure, reason)
    window = memory.design.window
    messages = [
        message
        for episode in episodes
        for message in _storable_messages(episode, memory)[-window if window else 0 :]
        if message.stored
    ]
    if len(messages) < MIN_OBSERVATIONS:
        return not_measurable(measure, f"only {len(messages)} messages are stored")
    ids = [message.message_id for message in messages if not message.live_at_end]
    statement = f"{len(ids)} of {len(messages)} stored messages are in no entry at the end of their episode"
    if window:
        statement += f" (of the newest {window}, which the memory keeps by design)"
    return share_measurement(
        measure, ids, len(messages), statement, suspect=SUSPECT_LOST_SHARE, at_least=MIN_OBSERVATIONS
    )


def unstored_messages(episodes: Sequence[EpisodeObservation], memory: MemoryTraits) -> Measurement:
    """Measure the messages that no entry ever came from."""
    measure = "unstored_messages"
    if reason := unknown_contents(episodes):
        return not_measurable(measure, reason)
    messages = [message for episode in episodes for message in _storable_messages(episode, memory)]
    if len(messages) < MIN_OBSERVATIONS:
        return not_measurable(measure, f"only {len(messages)} messages should be stored")
    if not any(episode.entries for episode in episodes):
        ids = [message.message_id for message in messages]
        statement = f"none of {len(messages)} messages left an entry"
        return share_measurement(measure, ids, len(ids), statement, faulty=FAULTY_SHARE)
    if reason := _merging_reason(memory):
        return not_measurable(measure, reason)
    ids = [message.message_id for message in messages if not message.stored]
    statement = f"{len(ids)} of {len(messages)} messages are in no entry"
    return share_measurement(
        measure,
        ids,
        len(messages),
        statement,
        faulty=FAULTY_SHARE,
        suspect=SUSPECT_LOST_SHARE,
        at_least=MIN_OBSERVATIONS,
    )


def unknown_contents(episodes: Sequence[EpisodeObservation]) -> str:
    """Return why the content of a memory is not known by message; empty if it is."""
    if any(episode.hides_items for episode in episodes):
        return "the memory server does not export its items"
    entries = [entry for episode in episodes for entry in episode.entries.values()]
    if entries and sum(bool(entry.sources) for entry in entries) < len(entries) / 2:
        return "most entries name no source message and have no message's text"
    if not any(episode.messages for episode in episodes):
        return "no message was given"
    return ""


def _merging_reason(memory: MemoryTraits) -> str:
    return "the memory summarizes, selects or merges messages by design" if memory.design.merges else ""


def _storable_messages(episode: EpisodeObservation, memory: MemoryTraits) -> list[GivenMessage]:
    """Return the messages that a memory of this design stores, without those whose write failed."""
    return [
        message for message in episode.messages if message.role in memory.design.roles and not message.failed
    ]


def _last_stored(episode: EpisodeObservation, messages: Sequence[GivenMessage], *, merges: bool) -> int:
    """Return the number, from 1, of the last message that is stored, or before the last change of an entry; or 0."""
    if merges:
        moments = [moment for entry in episode.entries.values() for moment in (entry.since, entry.until or 0)]
        return sum(message.sequence < max(moments, default=0) for message in messages)
    return max((number for number, message in enumerate(messages, 1) if message.stored), default=0)
