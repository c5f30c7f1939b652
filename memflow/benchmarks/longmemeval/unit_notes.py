"""`longmemeval_notes`: the published index, with a model's notes for the question on each unit (`con-separate`)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.benchmarks.longmemeval.history import Chunk, chat_text, lay_out
from memflow.benchmarks.longmemeval.index import PublishedIndex
from memflow.memories.entries import Item
from memflow.memories.memory import Calls
from memflow.memories.systems import System


@dataclass
class NoteIndex(PublishedIndex):
    """The published index of LongMemEval, which recalls a model's notes for the question on each unit."""

    calls: ClassVar[Calls] = Calls(chat_read=5)
    prompt_stems: ClassVar[tuple[str, ...]] = ("unit_note",)

    async def _notes(self, query: str, units: Sequence[Item], failed: list[str]) -> str:
        """Return the notes on the units. Raises RecallFailed if one is missing."""
        notes = await asyncio.gather(*(self._note(query, unit) for unit in units))
        failed += [reason for _, reasons in notes for reason in reasons]
        return lay_out(
            [Chunk(unit.meta["date"], note=note) for unit, (note, _) in zip(units, notes, strict=True)]
        )

    async def _note(self, query: str, unit: Item) -> tuple[str, list[str]]:
        """Return the note on a unit, and the reasons of items left out of the answer."""
        failed: list[str] = []
        chat = chat_text(unit.meta["messages"], self.layout)
        fields = {"date": unit.meta["date"], "chat": chat, "question": query}
        return await self.ask_to_read("unit_note", fields, failed=failed), failed


LONGMEMEVAL_NOTES = System("longmemeval_notes", NoteIndex, "LongMemEval, flat-bm25 with con-separate", ("k",))
