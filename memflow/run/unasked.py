"""Probes that ask no answer: what a memory recalls for a text, what a checkpoint's writes added, and what it contains.

The reply of such a probe has a JSON list of texts and the ids of their entries; the benchmark's verdicts judge these.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.api import Benchmark
from memflow.benchmarks.domains import Domain
from memflow.memories.baselines import Oracle
from memflow.memories.entries import EntryStore, Item, sources_of
from memflow.memories.external import ExternalMemory
from memflow.memories.memory import FAILURE, Memory, Recall
from memflow.memories.server.capabilities import NO_CONTENT, declared_capabilities
from memflow.memories.server.mirror import WRITE
from memflow.records import NOT_MEASURABLE, STORED, UNASKED, WRITTEN, Probe

MESSAGES, TEXTS, DECLARED, RECALLED = "messages", "texts", "declared", "recalled"
"""What the texts of a reply are (`Reply.parsed`): stored messages, texts that the memory wrote, texts that its server
declares for a write, or texts that it recalled."""


@dataclass(frozen=True)
class Observed:
    """The texts of a probe that asks no answer, with the ids of their entries and of the messages behind them."""

    texts: tuple[str, ...] = ()
    origin: str = ""
    entries: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    reason: str | None = None

    def columns(self) -> dict[str, Any]:
        """Return columns of a reply. `text` (a JSON list) and `parsed` (the origin) are None with a `reason`."""
        return {
            "text": None if self.reason is not None else json.dumps(self.texts, ensure_ascii=False),
            "parsed": None if self.reason is not None else self.origin,
            "recalled": list(self.entries),
            "recalled_sources": list(self.sources),
            "reason": self.reason,
        }


def search_text(benchmark: Benchmark, domain: Domain, probe: Probe) -> str:
    """Return the text that a memory is read with for a probe. Raises like `Benchmark.question`."""
    if probe.kind in UNASKED:
        return probe.question
    return benchmark.question(domain, probe, Recall(), None).query


def reads_memory(probe: Probe) -> bool:
    """Return whether a probe reads the memory; the kinds `written` and `stored` only list its entries."""
    return probe.kind not in (WRITTEN, STORED)


def observe_recall(probe: Probe, memory: Memory, recall: Recall) -> Observed:
    """Return the texts that a memory recalled for a probe of kind `search`.

    The oracle recalls the gold. A memory that recalls the same for every query is not measurable.
    """
    if isinstance(memory, Oracle):
        return Observed((probe.revealed,), RECALLED)
    if memory.recalls_entries and not memory.ranks_entries:
        return Observed(
            reason=f"{NOT_MEASURABLE}: {type(memory).__name__} does not search, it recalls the same for every text"
        )
    items = recall.entries
    texts = tuple(item.text for item in items) or ((recall.notes,) if recall.notes else ())
    return Observed(texts, RECALLED, tuple(item.entry_id for item in items), sources_of(items))


def observe_entries(probe: Probe, memory: Memory, items: Sequence[Item], start: int | None) -> Observed:
    """Return the texts that a checkpoint's writes added (`written`), or that the memory contains (`stored`).

    `items` are all entries of the episode; `memory` is restored as of the probe. `start` is the sequence number before
    the first message of the checkpoint, None without messages. If a write of the checkpoint failed, the reason stands
    instead of texts, so that a fault is not judged as an extraction.
    """
    if not memory.recalls_entries:
        return Observed(reason=f"{NOT_MEASURABLE}: the memory stores no entries by design")
    store, ignored_kinds = memory.store, type(memory).bookkeeping_kinds
    if probe.kind == WRITTEN and (failures := _failed_writes(store, start)):
        return Observed(
            reason=f"writes of the session failed ({len(failures)}), the first with: {failures[0]}"
        )
    if probe.kind == STORED:
        ignored_kinds -= type(
            memory
        ).derived_kinds  # a summary keeps what its memory does not count as remembered
    if probe.kind == WRITTEN and (declared_texts := _declared_texts(store, start)) is not None:
        return Observed(declared_texts, DECLARED)
    capabilities = next(filter(None, (declared_capabilities(item.kind, item.meta) for item in items)), None)
    if capabilities is not None and capabilities.export == "none":
        return Observed(reason=f"{NOT_MEASURABLE}: {NO_CONTENT}")
    entries = [item for item in store.live() if item.kind not in ignored_kinds and item.text.strip()]
    if probe.kind == WRITTEN:
        versions = {item.entry_id: item for item in items}
        entries = [item for item in entries if start is not None and _is_new(item, start, versions)]
    stores_messages = not isinstance(memory, ExternalMemory) and memory.calls.chat_write == 0
    return Observed(
        tuple(item.text for item in entries),
        MESSAGES if stores_messages else TEXTS,
        tuple(item.entry_id for item in entries),
        sources_of(entries),
    )


def _is_new(item: Item, start: int, versions: dict[str, Item]) -> bool:
    """Return whether an entry got its text after `start`; False for a revision with the text of a former version."""
    version: Item | None = item
    while version is not None and version.since > start:
        version = versions.get(version.previous) if version.previous is not None else None
    return item.since > start and (version is None or version.text != item.text)


def _failed_writes(store: EntryStore, start: int | None) -> list[str]:
    """Return the reasons of the failed writes after `start`; empty for a checkpoint without messages (None)."""
    failures = [item for item in store.live(FAILURE) if item.sources]
    return [item.text for item in failures if start is not None and item.since > start]


def _declared_texts(store: EntryStore, start: int | None) -> tuple[str, ...] | None:
    """Return the texts that a memory server declares for the writes after `start`; None if it declares no list."""
    writes = [item for item in store.live(WRITE) if start is not None and item.since > start]
    lists = [item.meta["extracted"] for item in writes if "extracted" in item.meta]
    return tuple(text for texts in lists for text in texts) if lists else None
