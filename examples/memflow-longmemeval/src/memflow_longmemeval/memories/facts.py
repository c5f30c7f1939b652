"""Indexes whose keys are the value and the facts of a unit (section 5.3 of the paper: K = V + fact)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.memory import Calls, Message, ModelWrittenMemory, PromptRequest, parameter
from memflow_longmemeval.memories.index import JOINS, DenseIndex, Index, LexicalIndex, value_of


@dataclass
class FactIndex(Index, ModelWrittenMemory):
    """The base class of indexes with facts: one request for each unit, which extracts the user's facts."""

    join: str = parameter(
        "merge",
        "Keys of a unit: its facts before its value, value and facts separately, or facts instead of the value.",
        choices=JOINS,
    )

    prompt_stems: ClassVar[tuple[str, ...]] = ("facts",)

    async def _facts(self, units: Sequence[Sequence[Message]]) -> list[Sequence[str]]:
        """Return the facts of each unit. A unit whose request fails has none, and an entry with the reason."""
        asked = [unit for unit in units if value_of(unit)]
        answers = await self.ask_all(
            PromptRequest(
                "facts",
                {"date": unit[0].sent_at or "", "messages": value_of(unit)},
                sources=[message.message_id for message in unit],
                loss="its facts are missing in the keys",
            )
            for unit in asked
        )
        found = {
            id(unit): answer.facts for unit, answer in zip(asked, answers, strict=True) if answer is not None
        }
        return [found.get(id(unit), ()) for unit in units]

    def _keys(self, unit: Sequence[Message], facts: Sequence[str]) -> list[str]:
        value, joined = value_of(unit), " ".join(facts)
        if not joined:
            return [value]
        return {"merge": [f"{joined} {value}"], "separate": [value, joined], "replace": [joined]}[self.join]


@dataclass
class LexicalFactIndex(FactIndex, LexicalIndex):
    """The published index with BM25 over value and facts."""

    calls: ClassVar[Calls] = Calls(chat_write=1, per="arrival")


@dataclass
class DenseFactIndex(FactIndex, DenseIndex):
    """The published index with embeddings of value and facts."""

    calls: ClassVar[Calls] = Calls(chat_write=1, embed_write=1, embed_read=1, per="arrival")
