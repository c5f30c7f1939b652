"""The index with separate notes (`con-separate`): a model writes notes for the question on each unit found."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.entries import Item
from memflow.memories.memory import Calls
from memflow_longmemeval.history import Chunk, lay_out
from memflow_longmemeval.memories.index import LexicalIndex


@dataclass
class NoteIndex(LexicalIndex):
    """The published index with BM25, whose units are replaced by a model's notes on them for the question."""

    calls: ClassVar[Calls] = Calls(chat_read=5)
    prompt_stems: ClassVar[tuple[str, ...]] = ("note",)

    async def _text(self, query: str, units: Sequence[Item], failed: list[str]) -> str:
        """Return the notes. Raises RecallFailed if one is missing."""
        notes = await asyncio.gather(*(self._note(query, unit) for unit in units))
        failed += [reason for _, reasons in notes for reason in reasons]
        return lay_out(
            [Chunk(unit.meta["date"], note=note) for unit, (note, _) in zip(units, notes, strict=True)]
        )

    async def _note(self, query: str, unit: Item) -> tuple[str, list[str]]:
        """Return the note on a unit, and the reasons of items left out of the answer."""
        failed: list[str] = []
        shown = lay_out([Chunk("", unit.meta["messages"])], "json" if self.layout == "json" else "text")
        fields = {"date": unit.meta["date"], "chat": shown, "question": query}
        return await self.ask_to_read("note", fields, failed=failed), failed
