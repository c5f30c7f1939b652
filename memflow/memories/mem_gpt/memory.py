"""MemGPT: a main context of `budget` tokens and two searchable storages (Packer et al. 2023; MemBench, 4.1).

Above `warning_threshold` the model may save facts; above `flush_threshold` the oldest messages move to the summary and
to recall storage. A call may request a heartbeat, another round of calls that shows its result (2.4). A read
as of a checkpoint may only call search functions, so that it changes nothing. Deviations are in deviations.yaml.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from memflow.errors import RecallFailed
from memflow.memories.entries import Item
from memflow.memories.mem_gpt.answers import (
    Acts,
    AnySearchCall,
    AnyWriteCall,
    ArchivalInsert,
    RecallSearchDate,
    Saves,
    Searches,
    Summary,
    WorkingAppend,
)
from memflow.memories.mem_gpt.context import NOTHING, QUEUE, SUMMARY, WORKING, Context
from memflow.memories.mem_gpt.storage import ARCHIVAL, RECALL, SearchPage, Storages
from memflow.memories.memory import Calls, Memory, Message, ModelWrittenMemory, Recall, Vector, parameter
from memflow.memories.notes import join_texts
from memflow.memories.verbatim import retire_messages, store_messages

WARNING = "warning"


@dataclass
class MemGpt(ModelWrittenMemory):
    """A memory with a small main context that a model manages by function calls, and with searchable storage."""

    budget: int = parameter(1500, "Tokens of the main context; 1,024 words in MemEngine.", low=1)
    working: float = parameter(0.25, "Share of the budget for the working context.", high=1)
    warning_threshold: float = parameter(0.7, "Share of the budget above which the model is warned.")
    flush_threshold: float = parameter(1.0, "Share of the budget above which messages are evicted.")
    flush_evicted: float = parameter(0.5, "Share of the queue's tokens that is evicted.", high=1)
    k: int = parameter(5, "Number of entries per page of search results.", low=1)
    steps: int = parameter(
        10, "Maximum rounds of function calls, each on request of a heartbeat; 1 in MemBench.", low=1
    )

    calls: ClassVar[Calls] = Calls(chat_write=11, chat_read=10, embed_write=11, embed_read=20, per="message")
    """With 10 steps, if every round requests a heartbeat; a write may also send the request for the summary."""
    version: ClassVar[int] = 2
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {WARNING}
    global_kinds: ClassVar[frozenset[str]] = frozenset({SUMMARY})
    cannot_forget: ClassVar[str] = (
        "its model edits the working context, and no function deletes from its storages"
    )

    def __post_init__(self) -> None:
        self.storages = Storages(self.store, self.k)

    async def write(self, messages: Sequence[Message]) -> None:
        """Queue each message and, when the main context gets too large, save facts and evict the oldest messages."""
        for message in messages:
            store_messages(self.store, [message], QUEUE)
            context = self._context()
            if context.tokens > self.warning_threshold * self.budget and not self.store.live(WARNING):
                self.store.add(WARNING, f"{context.tokens} of {self.budget} tokens", sources=())
                await self._save()
                context = self._context()
            if context.tokens > self.flush_threshold * self.budget:
                await self._flush(context)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the main context and the results of up to `steps` rounds of function calls.

        A later round without a usable answer ends the read: the results of earlier rounds are recalled, with the reason
        in `failed`. Raises RecallFailed if the first round has no usable answer.
        """
        items: list[Item] = []
        pages: list[SearchPage] = []
        failures: list[str] = []
        for _ in range(self.steps):
            if frozen and not (self.store.live(RECALL) or self.store.live(ARCHIVAL)):
                break
            context = self._context(items)
            searches = "\n".join(page.text for page in pages) or NOTHING
            fields = context.fields() | {"searches": searches, "question": query}
            if not frozen:
                fields["room"] = str(max(0, context.room))
            stem = "search" if frozen else "act"
            try:
                answer: Searches | Acts = await self.ask_to_read(
                    stem, fields, failed=failures, check_item=context.find_error, numbers=context.numbers
                )
            except RecallFailed as error:
                if not pages:
                    raise
                failures.append(str(error))
                break
            pages += await self._run_calls(context, answer.calls)
            items = list({item.entry_id: item for page in pages for item in page.items}.values())
            if not any(call.request_heartbeat for call in answer.calls):
                break
        return replace(self._context(items).recall(), failed=tuple(failures))

    def _context(self, items: Sequence[Item] = ()) -> Context:
        return Context.from_store(self.store, int(self.working * self.budget), items)

    async def _save(self) -> None:
        """Let the model save important facts by function calls before messages are evicted."""
        for _ in range(self.steps):
            context = self._context()
            fields = context.fields()
            del fields["found"]
            fields["room"] = str(max(0, context.room))
            sources = [source for message in context.queue for source in message.item.sources]
            saves: Saves | None = await self.ask(
                "save", fields, sources=sources, check_item=context.find_error, numbers=context.numbers
            )
            calls = saves.calls if saves is not None else []
            await self._run_calls(context, calls)
            if not any(call.request_heartbeat for call in calls):
                break

    async def _flush(self, context: Context) -> None:
        """Evict the oldest messages into a new summary. If the model returns no summary, the former summary is used."""
        evicted_messages = context.leaving(self.flush_evicted, self.flush_threshold * self.budget)
        notes = [message.note() for message in evicted_messages]
        evicted_ids = [source for message in evicted_messages for source in message.item.sources]
        fields = {"summary": join_texts(context.summary) or NOTHING, "messages": "\n".join(notes)}
        answer, vectors = await asyncio.gather(
            self.ask("summarise", fields, sources=evicted_ids), self.embed(notes, "passage")
        )
        summary: Summary | None = answer
        retire_messages(self.store, evicted_messages, QUEUE)
        for message, note, vector in zip(evicted_messages, notes, vectors, strict=True):
            item = message.item
            self.store.add(
                RECALL,
                note,
                sources=item.sources,
                role=item.role,
                vector=vector,
                meta={"date": message.date},
                previous=item.entry_id,
            )
        if summary is not None:
            former_summary = context.summary[0] if context.summary else None
            if former_summary is None:
                self.store.add(SUMMARY, summary.summary, sources=evicted_ids)
            else:
                sources = dict.fromkeys((*former_summary.sources, *evicted_ids))
                self.store.revise(former_summary, text=summary.summary, sources=sources)
        for warning in self.store.live(WARNING):
            self.store.retire(warning.entry_id)

    async def _run_calls(
        self, context: Context, calls: Iterable[AnyWriteCall | AnySearchCall]
    ) -> list[SearchPage]:
        """Execute the model's function calls in order, with one embedding request for passages and one for queries.

        Return the search results.
        """
        calls = list(calls)
        passage_texts: dict[int, str] = {}  # by the index of the call
        query_texts: dict[int, str] = {}
        for index, call in enumerate(calls):
            if isinstance(call, ArchivalInsert):
                passage_texts[index] = call.text
            elif isinstance(call, AnySearchCall) and not isinstance(call, RecallSearchDate):
                query_texts[index] = call.query
        passage_vectors, query_vectors = await asyncio.gather(
            self.embed([*passage_texts.values()], "passage"), self.embed([*query_texts.values()], "query")
        )
        vectors_by_call = dict(zip(passage_texts, passage_vectors, strict=True))
        vectors_by_call |= zip(query_texts, query_vectors, strict=True)
        pages: list[SearchPage] = []
        for index, call in enumerate(calls):
            if isinstance(call, AnySearchCall):
                pages.append(self.storages.search(call, vectors_by_call.get(index)))
            else:
                self._write_entry(context, call, vectors_by_call.get(index))
        return pages

    def _write_entry(self, context: Context, call: AnyWriteCall, vector: Vector | None) -> None:
        """Execute a function call that writes: add, replace or delete an entry."""
        sources = context.sources(call.rests_on)
        if isinstance(call, ArchivalInsert):
            self.store.add(ARCHIVAL, call.text, sources=sources, vector=vector)
        elif isinstance(call, WorkingAppend):
            self.store.add(WORKING, call.text, sources=sources, meta={"section": call.section})
        elif call.text.strip():
            self.store.revise(context.line(call.line), text=call.text, sources=sources)
        else:
            self.store.retire(context.line(call.line).entry_id)
