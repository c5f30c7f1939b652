"""The inputs of the measures of health: observations of all played episodes, and BM25 over their stored entries."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from memflow.memories.entries import EntryStore, Item
from memflow.memories.search import Bm25
from memflow.memories.server.capabilities import declared_capabilities
from memflow.records import Probe, TranscriptMessage
from memflow.run.context import StepContext
from memflow.run.transcripts import episode_batches, episode_histories
from memflow.run.unasked import reads_memory
from memflow.scoring.health.episodes import DomainMessages, observe
from memflow.scoring.health.observations import EpisodeObservation, MemoryTraits, ProbeRead


def traits(context: StepContext, observations: Sequence[EpisodeObservation]) -> MemoryTraits:
    """Return what is known of the assistant's memory beside its rows. A memory server declares its design itself."""
    memory = context.memory
    designs = (episode.server.design for episode in observations if episode.server is not None)
    k = memory.values.get("k")
    return MemoryTraits(
        memory.system.name,
        next(designs, memory.design),
        k if type(k) is int else None,
        memory.system.memory.ranks_entries,
    )


def observe_episodes(context: StepContext) -> list[EpisodeObservation]:
    """Return the observations of all episodes that the memory received messages of."""
    domain_messages = DomainMessages.from_transcript(context.stream("memory.transcripts"))
    probes: dict[str, list[Probe]] = defaultdict(list)
    for probe in filter(reads_memory, context.test_probes()):
        probes[probe.episode_id].append(probe)

    observations = []
    for episodes in episode_batches(domain_messages.episode_ids):
        messages_by_episode = _delivered_messages(context, episodes)
        histories = episode_histories(
            context.stream("memory.indexes", vectors=False, episodes=episodes),
            chain(*messages_by_episode.values()),
            (probe for episode_id in episodes for probe in probes[episode_id]),
        )
        replies = {row.probe_id: row for row in context.stream("answer.replies", episodes=episodes)}
        attributions = {row.probe_id: row for row in context.stream("score.attributions", episodes=episodes)}
        observations += [
            observe(
                context.memory.system,
                episode_id,
                history=histories[episode_id],
                lines=messages_by_episode[episode_id],
                probes=probes[episode_id],
                query_of=context.query,
                replies=replies,
                attributions=attributions,
                domain_messages=domain_messages,
            )
            for episode_id in episodes
        ]
    return observations


def search_again(context: StepContext, reads: Sequence[ProbeRead], k: int) -> Mapping[str, bool]:
    """Return, by probe id, whether BM25 retrieves evidence among its top `k` of the entries current at the read.

    Reads without evidence are omitted. If a memory server does not export its items, BM25 searches the messages.
    """
    reads_by_sequence: dict[str, dict[int, list[ProbeRead]]] = defaultdict(lambda: defaultdict(list))
    for read in reads:
        if read.evidence:
            reads_by_sequence[read.episode_id][read.sequence].append(read)
    ignored_kinds = context.memory.system.kinds_without_evidence
    hits: dict[str, bool] = {}
    for episodes in episode_batches(reads_by_sequence):
        messages_by_episode = _delivered_messages(context, episodes)
        histories = episode_histories(
            context.stream("memory.indexes", vectors=False, episodes=episodes),
            chain(*messages_by_episode.values()),
            (),
        )
        for episode_id in episodes:
            items = [item for item in histories[episode_id].items if item.kind not in ignored_kinds]
            if hides_items(histories[episode_id].items):
                items = [_as_item(message) for message in messages_by_episode[episode_id]]
            kinds = {item.kind for item in items}
            documents: dict[Any, Any] = {}
            for sequence, sequence_reads in sorted(reads_by_sequence[episode_id].items()):
                index = Bm25(EntryStore.restored(items, sequence, documents), *kinds)
                for read in sequence_reads:
                    sources = {source for item in index.search(read.query, k) for source in item.sources}
                    hits[read.probe_id] = not sources.isdisjoint(read.evidence)
    return hits


def hides_items(items: Iterable[Item]) -> bool:
    """Return whether the entries are of a memory server that does not export its items."""
    declarations = (declared_capabilities(item.kind, item.meta) for item in items)
    return any(capabilities.export == "none" for capabilities in declarations if capabilities is not None)


def _as_item(message: TranscriptMessage) -> Item:
    """Return a message as an entry that was written with it."""
    return Item(
        message.message_id,
        "message",
        message.text,
        (message.message_id,),
        message.sequence + 1,
        order=message.sequence,
    )


def _delivered_messages(
    context: StepContext, episodes: Collection[str]
) -> dict[str, list[TranscriptMessage]]:
    """Return the messages that the memory was given, by episode: those whose request failed are left out."""
    messages_by_episode: dict[str, list[TranscriptMessage]] = defaultdict(list)
    for message in context.stream("memory.transcripts", episodes=episodes):
        if message.reason is None and message.episode_id in episodes:
            messages_by_episode[message.episode_id].append(message)
    return messages_by_episode
