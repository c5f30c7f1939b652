"""The index with separate notes (`con-separate`): a model writes notes for the question on each unit found."""

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
        chunks = []
        for unit in units:
            shown = lay_out([Chunk("", unit.meta["messages"])], "json" if self.layout == "json" else "text")
            fields = {"date": unit.meta["date"], "chat": shown, "question": query}
            note = await self.ask_to_read("note", fields, failed=failed)
            chunks.append(Chunk(unit.meta["date"], note=note))
        return lay_out(chunks)
