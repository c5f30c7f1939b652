"""The inputs of the measures of health: observations of all played episodes, and BM25 over their stored entries."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from memflow.memories.entries import EntryStore, Item
from memflow.memories.search import Bm25
from memflow.memories.server.evidence import declared_capabilities
from memflow.records import Probe, TranscriptMessage
from memflow.run.context import StepContext
from memflow.run.transcripts import episode_batches, episode_histories
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
    """Return the observations of all played episodes."""
    messages = DomainMessages.from_transcript(context.stream("memory.transcripts"))
    probes: dict[str, list[Probe]] = defaultdict(list)
    for probe in context.test_probes():
        probes[probe.episode_id].append(probe)

    observations = []
    for episodes in episode_batches(messages.starts):
        lines = _messages(context, episodes)
        histories = episode_histories(
            context.stream("memory.indexes", vectors=False, episodes=episodes),
            chain(*lines.values()),
            (probe for episode_id in episodes for probe in probes[episode_id]),
        )
        replies = {row.probe_id: row for row in context.stream("answer.replies", episodes=episodes)}
        attributions = {row.probe_id: row for row in context.stream("score.attributions", episodes=episodes)}
        observations += [
            observe(
                context.memory.system,
                episode_id,
                histories[episode_id],
                lines[episode_id],
                probes[episode_id],
                context.query,
                replies,
                attributions,
                messages,
            )
            for episode_id in episodes
        ]
    return observations


def search_again(context: StepContext, reads: Sequence[ProbeRead], k: int) -> Mapping[str, bool]:
    """Return whether BM25 recalls evidence of each read among `k` of the entries that were live then, by probe.

    For a memory server that does not export its items, BM25 searches the messages.
    """
    reads_by_moment: dict[str, dict[int, list[ProbeRead]]] = defaultdict(lambda: defaultdict(list))
    for read in reads:
        if read.evidence:
            reads_by_moment[read.episode_id][read.sequence].append(read)
    ignored = context.memory.system.kinds_without_evidence
    hits: dict[str, bool] = {}
    for episodes in episode_batches(reads_by_moment):
        lines = _messages(context, episodes)
        histories = episode_histories(
            context.stream("memory.indexes", vectors=False, episodes=episodes), chain(*lines.values()), ()
        )
        for episode_id in episodes:
            items = [item for item in histories[episode_id].items if item.kind not in ignored]
            if hides_items(histories[episode_id].items):
                items = [_as_item(line) for line in lines[episode_id]]
            kinds = {item.kind for item in items}
            for sequence, moment_reads in sorted(reads_by_moment[episode_id].items()):
                index = Bm25(EntryStore.restored(items, sequence), *kinds)
                for read in moment_reads:
                    sources = {source for item in index.search(read.query, k) for source in item.sources}
                    hits[read.probe_id] = not sources.isdisjoint(read.evidence)
    return hits


def hides_items(items: Iterable[Item]) -> bool:
    """Return whether the entries are of a memory server that does not export its items."""
    server_capabilities = (declared_capabilities(item.kind, item.meta) for item in items)
    return any(
        capabilities.export == "none" for capabilities in server_capabilities if capabilities is not None
    )


def _as_item(line: TranscriptMessage) -> Item:
    """Return a message as an entry that was written with it."""
    return Item(
        line.message_id, "message", line.text, (line.message_id,), line.sequence + 1, order=line.sequence
    )


def _messages(context: StepContext, episodes: Collection[str]) -> dict[str, list[TranscriptMessage]]:
    lines: dict[str, list[TranscriptMessage]] = defaultdict(list)
    for line in context.stream("memory.transcripts", episodes=episodes):
        if line.reason is None and line.episode_id in episodes:
            lines[line.episode_id].append(line)
    return lines
