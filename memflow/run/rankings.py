"""The step `rankings`: each memory is read for each probe with evidence, and no answer is requested.

A memory that declares a parameter `k` is read twice: with its own parameters, and with `k` raised to DEPTH, so that
every cutoff up to DEPTH is what it would return. memflow/scoring/rankings.py computes the metrics.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memflow.benchmarks.api import Benchmark
from memflow.benchmarks.domains import Domain
from memflow.concurrency import gather_bounded
from memflow.errors import BadInput, BadSettings, FatalChatError, MemflowError
from memflow.memories.entries import EntryStore, Item
from memflow.memories.external import DatedQuery, ExternalMemory
from memflow.memories.memory import Memory, Recall
from memflow.memories.registry import MemoryConfig
from memflow.records import FailureAttribution, Probe, ProbeRanking
from memflow.run.answer import EpisodeHistory
from memflow.run.context import StepContext, Tables
from memflow.run.transcripts import episode_batches, episode_histories
from memflow.run.unasked import reads_memory
from memflow.scoring.attribution import NO_EVIDENCE, received_evidence, sequence_numbers
from memflow.scoring.retrieval import ProbeEntries

DEPTH = 50
"""The largest cutoff."""
MOMENTS_AT_ONCE = 64
"""Restored memories that are read concurrently."""

Remember = Callable[[EntryStore], Memory]


def check_retrieval_only(benchmark: Benchmark, domain: Domain, memory: MemoryConfig) -> None:
    """Raise BadSettings if a domain cannot be played, or a memory not be written or read, without a chat model."""
    system = memory.system
    if "memory" in benchmark.simulator_stages(domain):
        raise BadSettings(
            f"--retrieval-only requests no answer, but in {domain.name} the assistant's own replies are part of the "
            "dialogues. Use a domain that gives all replies: `memflow domains`."
        )
    if not system.memory.recalls_entries:
        raise BadSettings(
            f"the memory {memory.name} recalls nothing from its entries, so --retrieval-only cannot measure it. Use a "
            "memory that searches, such as bm25_message or embed_message."
        )
    if system.needs_chat or memory.server is not None or issubclass(system.memory, ExternalMemory):
        need = "needs a chat model" if system.needs_chat else "has state in another program"
        raise BadSettings(
            f"the memory {memory.name} {need}, so --retrieval-only cannot measure it. Use one that writes and reads "
            "without a model, such as bm25_message, embed_message, hybrid or rag (`memflow memories`), or run without "
            "--retrieval-only."
        )


def no_evidence(domain: str) -> BadInput:
    """Return the exception for a domain without evidence."""
    return BadInput(
        f"{domain} names no evidence messages for its questions, so retrieval cannot be scored. Choose another domain "
        "(`memflow domains`), or run without --retrieval-only."
    )


def deeper(memory: MemoryConfig) -> MemoryConfig:
    """Return a copy with `k` raised to DEPTH; the same memory if `k` is missing, fixed, 0 (all) or at least DEPTH."""
    k = memory.values.get("k")
    if type(k) is not int or not 0 < k < DEPTH or "k" in memory.system.fixed:
        return memory
    return replace(memory, values={**memory.values, "k": DEPTH})


async def measure_rankings(context: StepContext) -> Tables:
    """Read the memory for each probe with evidence, without a chat model, and follow the evidence."""
    check_retrieval_only(context.benchmark, context.domain, context.memory)
    probes: dict[str, list[Probe]] = defaultdict(list)
    for probe in context.test_probes():
        if probe.evidence and probe.kind != "state" and reads_memory(probe) and probe.reason is None:
            probes[probe.episode_id].append(probe)
    if not probes:
        raise no_evidence(context.domain.name)
    reader = _Reader(context, sequence_numbers(context.stream("memory.transcripts")))
    on_read = context.models.expect(sum(map(len, probes.values())))
    rows: list[ProbeRanking] = []
    for episodes in episode_batches(probes):
        probes_of_batch = [probe for episode in episodes for probe in probes[episode]]
        rows += await reader.read(probes_of_batch, on_read)
    return {"score.rankings": rows}


@dataclass(frozen=True)
class _Reader:
    """Reads one assistant's memory for probes. `sequence_by_message` has the messages it received."""

    context: StepContext
    sequence_by_message: Mapping[str, int]

    @property
    def memory(self) -> MemoryConfig:
        return self.context.memory

    async def read(self, probes: Sequence[Probe], on_read: Callable[[], None]) -> list[ProbeRanking]:
        """Return the rows of the probes of some episodes, whose entries are in RAM."""
        context = self.context
        episodes = {probe.episode_id for probe in probes}
        histories = episode_histories(
            context.stream("memory.indexes", episodes=episodes),
            context.stream("memory.transcripts", episodes=episodes),
            probes,
        )
        # Probes of one episode and sequence number read the same state of the memory.
        moments: dict[tuple[str, int], list[Probe]] = defaultdict(list)
        for probe in probes:
            history = histories.get(probe.episode_id)
            sequence = 0 if history is None else history.sequence(probe)
            moments[probe.episode_id, sequence].append(probe)
        tools = await context.models.tools(context.assistant)
        remember_own, remember_deep = self.memory.factory(tools), deeper(self.memory).factory(tools)

        async def read_moment(moment: tuple[str, int]) -> list[ProbeRanking]:
            episode, sequence = moment
            history = histories.get(episode, EpisodeHistory((), {}))
            rows = await self._read_moment(moments[moment], history, sequence, remember_own, remember_deep)
            for _ in rows:
                on_read()
            return rows

        rows_of_moments = await gather_bounded(read_moment, list(moments), MOMENTS_AT_ONCE)
        rows_by_probe = {row.probe_id: row for rows in rows_of_moments for row in rows}
        return [rows_by_probe[probe.probe_id] for probe in probes]

    async def _read_moment(
        self,
        probes: Sequence[Probe],
        history: EpisodeHistory,
        sequence: int,
        remember_own: Remember,
        remember_deep: Remember,
    ) -> list[ProbeRanking]:
        """Return the rows of the probes that read the memory as of a sequence number.

        Each probe is read twice: with `remember_deep`, which recalls up to DEPTH entries, and with the memory's own k.
        """
        ignored_kinds = self.memory.system.kinds_without_evidence
        live = {
            item.entry_id: item
            for item in history.items
            if item.kind not in ignored_kinds and item.alive(sequence)
        }

        async def recalls_of(remember: Remember) -> list[Recall | MemflowError]:
            memory = remember(EntryStore.restored(history.items, sequence, history.documents))
            return await asyncio.gather(*(self._recall(memory, probe) for probe in probes))

        rankings, recalls = await recalls_of(remember_deep), await recalls_of(remember_own)
        return [
            self._row(probe, sequence, live, ranking, recall)
            for probe, ranking, recall in zip(probes, rankings, recalls, strict=True)
        ]

    async def _recall(self, memory: Memory, probe: Probe) -> Recall | MemflowError:
        """Return the recall for a probe, or the error of the memory. Raises FatalChatError."""
        try:
            return await memory.read(DatedQuery(self.context.query(probe), probe.asked_at))
        except FatalChatError:
            raise
        except MemflowError as error:
            return error

    def _row(
        self,
        probe: Probe,
        sequence: int,
        items: Mapping[str, Item],
        ranking: Recall | MemflowError,
        recall: Recall | MemflowError,
    ) -> ProbeRanking:
        """Return the row of a probe, with the reason if its evidence cannot be followed or the memory failed."""
        identity: dict[str, Any] = {
            "domain": self.context.domain.name,
            "assistant": self.context.assistant,
            "probe_id": probe.probe_id,
            "episode_id": probe.episode_id,
            "checkpoint": probe.checkpoint,
        }
        evidence = received_evidence(probe, sequence, self.sequence_by_message)
        row = ProbeRanking(
            **identity, category=probe.category, language=probe.language, evidence=len(evidence)
        )
        if not evidence:
            return replace(row, reason=NO_EVIDENCE)
        if isinstance(ranking, MemflowError):
            return replace(row, reason=str(ranking))
        if isinstance(recall, MemflowError):
            return replace(row, reason=str(recall))
        probe_entries = ProbeEntries(
            FailureAttribution(**identity, evidence=len(evidence)),
            evidence,
            items,
            _ids(recall.entries, items),
        )
        k = deeper(self.memory).values.get("k")
        limit = k if type(k) is int and k > 0 else None  # 0 recalls everything
        ranks = self.memory.system.memory.ranks_entries
        ranked_ids = _ids(ranking.ranked, items)[: limit or DEPTH] if ranks else []
        sources_by_rank = enumerate((items[entry_id].sources for entry_id in ranked_ids), 1)
        mean_sequence = sum(self.sequence_by_message[message] for message in evidence) / len(evidence)
        return replace(
            row,
            position=mean_sequence / max(1, sequence - 1),
            stored=len(probe_entries.messages(items)),
            entries=len(items),
            relevant_entries=sum(not evidence.isdisjoint(item.sources) for item in items.values()),
            limit=limit,
            returned=len(ranked_ids) if ranks else None,
            found=probe_entries.ranks(ranked_ids),
            relevant=[float(rank) for rank, sources in sources_by_rank if not evidence.isdisjoint(sources)],
            k=probe_entries.k,
            tokens=recall.injected_tokens,
            recalled=len(probe_entries.messages(probe_entries.recalled)),
        )


def _ids(entries: Sequence[Item], items: Mapping[str, Item]) -> list[str]:
    """Return the ids of the `entries` that are in `items`, each once, in order."""
    return [name for name in dict.fromkeys(item.entry_id for item in entries) if name in items]
