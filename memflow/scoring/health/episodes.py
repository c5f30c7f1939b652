"""Observation of played episodes: from the rows of an episode to what the measures need."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memflow.errors import BadInput
from memflow.memories.entries import Item
from memflow.memories.memory import FAILURE
from memflow.memories.server.capabilities import declared_capabilities
from memflow.memories.server.mirror import WRITE, is_unstored
from memflow.memories.systems import System
from memflow.records import QUARANTINED_PROBE, FailureAttribution, Probe, Reply, TranscriptMessage
from memflow.run.answer import EpisodeHistory
from memflow.scoring.health.observations import EpisodeObservation, GivenMessage, ProbeRead, StoredEntry
from memflow.scoring.health.repeats import RepeatedTexts
from memflow.scoring.health.texts import KEY, at_risk, losses, properties, text_variants, whole_key
from memflow.words import search_words

LONG_ENOUGH = 20
"""Letters and digits from which on an equal text shows where it came from: "Thanks!" is said in every episode."""
RANKED_AT_LEAST = 5
"""Items of a read whose order can be judged."""


@dataclass(frozen=True)
class DomainMessages:
    """The episode of each message and text of a domain, to recognize content of one episode in another."""

    episodes: Mapping[str, str] = field(default_factory=dict)
    """By message id."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """By `whole_key`; empty for a text of several episodes."""
    starts: Mapping[str, int] = field(default_factory=dict)
    """The sequence number of the first message by episode; above 0, the episode continues another one."""

    @property
    def episode_ids(self) -> Collection[str]:
        """The episodes with a message."""
        return self.starts.keys()

    @classmethod
    def from_transcript(cls, lines: Iterable[TranscriptMessage]) -> "DomainMessages":
        """Return the index of the messages that were given."""
        episodes: dict[str, str] = {}
        texts: dict[str, str] = {}
        starts: dict[str, int] = {}
        for line in lines:
            if line.reason is None:
                episodes[line.message_id] = line.episode_id
                starts[line.episode_id] = min(line.sequence, starts.get(line.episode_id, line.sequence))
                key = whole_key(line.text)
                if len(key) >= LONG_ENOUGH and texts.setdefault(key, line.episode_id) != line.episode_id:
                    texts[key] = ""
        return cls(episodes, texts, starts)

    def is_foreign(self, episode: str, origin: str | None) -> bool:
        """Return whether `origin` is an episode whose content this episode's memory never received."""
        if not origin or origin == episode:
            return False
        return not (self.starts.get(episode, 0) > 0 and self.starts.get(origin, 0) == 0)


def observe(
    system: System,
    episode_id: str,
    *,
    history: EpisodeHistory,
    lines: Iterable[TranscriptMessage],
    probes: Iterable[Probe],
    query_of: Callable[[Probe], str],
    replies: Mapping[str, Reply],
    attributions: Mapping[str, FailureAttribution],
    domain_messages: DomainMessages,
) -> EpisodeObservation:
    """Return the observation of one episode. `query_of` returns the search query of a probe."""
    messages = [line for line in lines if line.reason is None]
    items = [item for item in history.items if item.kind not in system.memory.bookkeeping_kinds]
    declarations = (declared_capabilities(item.kind, item.meta) for item in history.items)
    server = next((capabilities for capabilities in declarations if capabilities is not None), None)
    origins = _origins(messages, items)
    by_message: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        for source in origins[item.entry_id]:
            by_message[source].append(item)
    sequences = {line.message_id: line.sequence for line in messages}
    entries = {item.entry_id: _entry(episode_id, item, origins, sequences, domain_messages) for item in items}
    return EpisodeObservation(
        episode_id,
        _messages(messages, by_message, history.items, system.memory.global_kinds),
        entries,
        _reads(messages, items, history, probes, query_of, replies, attributions),
        write_failures=[item.text for item in history.items if item.kind == FAILURE and item.sources],
        export_failures=[item.text for item in history.items if item.kind == FAILURE and not item.sources],
        server=server,
    )


def _origins(messages: Sequence[TranscriptMessage], items: Sequence[Item]) -> dict[str, tuple[str, ...]]:
    """Return the source messages of each entry; for an entry without sources, the message with its text."""
    if all(item.sources for item in items):
        return {item.entry_id: item.sources for item in items}
    by_text: dict[str, list[TranscriptMessage]] = defaultdict(list)
    for line in messages:
        key = whole_key(line.text)
        by_text[key].append(line)
        if len(key) > KEY:
            by_text[key[:KEY]].append(line)
    origins: dict[str, tuple[str, ...]] = {}
    used_messages: set[str] = set()
    start = messages[0].sequence if messages else 0
    for item in items:
        origins[item.entry_id] = item.sources
        if not item.sources and item.since > start:  # otherwise it is of the episode that this one continues
            keys = [whole_key(body) for body in text_variants(item.text)]
            matches = [line for key in keys for line in by_text.get(key, ())]
            prefix_matches = [line for key in keys for line in by_text.get(key[:KEY], ()) if len(key) >= KEY]
            earlier_matches = [line for line in matches or prefix_matches if line.sequence < item.since]
            # Equal messages have an entry each, in their order.
            unused_matches = [line for line in earlier_matches if line.message_id not in used_messages]
            if unused_matches:
                origins[item.entry_id] = (unused_matches[0].message_id,)
            elif candidates := earlier_matches or matches:
                origins[item.entry_id] = (candidates[-1].message_id,)
            used_messages.update(origins[item.entry_id])
    return origins


def _entry(
    episode_id: str,
    item: Item,
    origins: Mapping[str, tuple[str, ...]],
    sequences: Mapping[str, int],
    domain_messages: DomainMessages,
) -> StoredEntry:
    """Return an entry with its source messages, and whether they are of another episode or of the future."""
    sources = origins[item.entry_id]
    foreign = any(
        domain_messages.is_foreign(episode_id, domain_messages.episodes.get(source)) for source in sources
    )
    if not sources:
        text_origins = (domain_messages.texts.get(whole_key(body)) for body in text_variants(item.text))
        foreign = any(domain_messages.is_foreign(episode_id, origin) for origin in text_origins)
    return StoredEntry(
        entry_id=item.entry_id,
        kind=item.kind,
        since=item.since,
        until=item.until,
        sources=sources,
        item_id=item.meta.get("id"),
        foreign=foreign,
        future=any(sequences.get(source, -1) >= item.since for source in sources),
    )


def _messages(
    messages: Sequence[TranscriptMessage],
    by_message: Mapping[str, Sequence[Item]],
    all_items: Sequence[Item],
    global_kinds: frozenset[str],
) -> list[GivenMessage]:
    """Return the messages of an episode, each with what the entries from it lack."""
    failed_messages: set[str] = set()
    for item in all_items:
        if item.kind == FAILURE:
            failed_messages.update(item.sources)
        elif item.kind == WRITE and item.meta.get("failed"):
            failed_messages.update(message["id"] for message in item.meta["messages"])
    end = messages[-1].sequence + 1 if messages else 0
    request_moments = _moments_of_requests(messages)
    stored_ids = {
        message for message, items in by_message.items() for item in items if item.kind not in global_kinds
    }
    # Near-duplicates matter only where messages are lost.
    earlier_texts = RepeatedTexts() if any(line.message_id not in stored_ids for line in messages) else None
    observations = []
    for position, line in enumerate(messages, 1):
        stored_items = [item for item in by_message.get(line.message_id, ()) if item.kind not in global_kinds]
        observations.append(
            GivenMessage(
                message_id=line.message_id,
                role=line.role,
                sequence=line.sequence,
                position=position,
                session=line.event,
                text=properties(line.text),
                repeats=earlier_texts is not None and earlier_texts.repeats(line.text),
                stored=bool(stored_items),
                failed=line.message_id in failed_messages and not stored_items,
                live_at_end=any(item.alive(end) or item.until in request_moments for item in stored_items),
                losses=losses(line.text, [item.text for item in stored_items]) if stored_items else None,
                at_risk=at_risk(line.text),
                seconds=None if line.own_s is None else line.own_s + (line.models_s or 0.0),
            )
        )
    return observations


def _moments_of_requests(messages: Sequence[TranscriptMessage]) -> set[int]:
    """Return the sequence numbers after a request to forget, up to and including the end of its event."""
    requests = [line for line in messages if line.ended_entries is not None]
    event_ends = {line.event: line.sequence + 1 for line in messages} if requests else {}
    return {moment for line in requests for moment in range(line.sequence + 1, event_ends[line.event] + 1)}


def _reads(
    messages: Sequence[TranscriptMessage],
    items: Sequence[Item],
    history: EpisodeHistory,
    probes: Iterable[Probe],
    query_of: Callable[[Probe], str],
    replies: Mapping[str, Reply],
    attributions: Mapping[str, FailureAttribution],
) -> list[ProbeRead]:
    """Return the reads of an episode's probes that have a reply, without quarantined probes."""
    by_id = {item.entry_id: item for item in items}
    sequences = {line.message_id: line.sequence for line in messages}
    live_counts: dict[int, Counter[str]] = {}
    words: dict[str, frozenset[str]] = {}
    observations = []
    for probe in probes:
        reply = replies.get(probe.probe_id)
        if reply is None or (reply.reason or "").startswith(QUARANTINED_PROBE):
            continue
        try:
            sequence = history.sequence(probe)
        except BadInput:
            continue  # the reply has the reason: a message before the probe was not played
        if sequence not in live_counts:
            live_counts[sequence] = Counter(item.kind for item in items if item.alive(sequence))
        query = query_of(probe)
        returned = Counter(_kind(entry_id, by_id) for entry_id in reply.recalled)
        recalled_items = [by_id[entry_id] for entry_id in reply.recalled if entry_id in by_id]
        # A kind of which all live entries are returned was not searched, so its order says nothing.
        searched_items = [
            item for item in recalled_items if returned[item.kind] < live_counts[sequence][item.kind]
        ]
        evidence_sequences = [
            sequences[message] for message in probe.evidence if sequences.get(message, sequence) < sequence
        ]
        observations.append(
            ProbeRead(
                probe_id=probe.probe_id,
                episode_id=probe.episode_id,
                sequence=sequence,
                query=query,
                text=properties(query),
                labels={
                    "language": probe.language,
                    "category": probe.category or "",
                    "kind": probe.kind,
                    "data set": probe.dataset,
                },
                live=live_counts[sequence],
                returned=returned,
                recalled=tuple(reply.recalled),
                failure=reply.reason if is_failed_read(reply) else None,
                cut_by_budget=bool(reply.dropped_tokens or reply.dropped_messages),
                empty=not (reply.recalled or reply.injected_tokens or reply.dropped_tokens),
                slope=_slope(query, searched_items, words),
                attribution=attributions.get(probe.probe_id),
                evidence=tuple(probe.evidence),
                lag=sequence - 1 - max(evidence_sequences) if evidence_sequences else None,
                seconds=None if reply.own_s is None else reply.own_s + (reply.models_s or 0.0),
            )
        )
    return observations


def _kind(name: str, by_id: Mapping[str, Item]) -> str:
    """Return the kind of a recalled entry; that of an item that a server did not export is part of its id."""
    if name in by_id:
        return by_id[name].kind
    return name.split(":")[1] if is_unstored(name) else ""


def is_failed_read(reply: Reply) -> bool:
    """Return whether the memory failed to recall for a probe. A chat model that did not answer is no failed read."""
    return reply.prompt is None and "RecallFailed: " in (reply.reason or "")


def _slope(query: str, items: Sequence[Item], words: dict[str, frozenset[str]]) -> float | None:
    """Return how many more query words per item the first half has; None for fewer than RANKED_AT_LEAST items."""
    if len(items) < RANKED_AT_LEAST:
        return None
    query_words = frozenset(search_words(query))
    counts = []
    for item in items:
        if item.entry_id not in words:
            words[item.entry_id] = frozenset(search_words(item.text))
        counts.append(len(query_words & words[item.entry_id]))
    half = len(counts) // 2
    return sum(counts[:half]) / half - sum(counts[-half:]) / half
