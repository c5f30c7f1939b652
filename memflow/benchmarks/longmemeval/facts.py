"""`longmemeval_bm25_facts`, `longmemeval_dense_facts`: the published index with facts in the keys (section 5.3).

A model extracts the user's facts from each unit. By default the key of a unit is its facts and its value, the user's
text (K = V + fact). Without facts the key is the value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memflow.benchmarks.longmemeval.index import UNIT, PublishedIndex, user_text
from memflow.memories.entries import Item
from memflow.memories.memory import (
    Calls,
    Message,
    ModelWrittenMemory,
    PromptRequest,
    parameter,
)
from memflow.memories.search import Dense
from memflow.memories.systems import System


@dataclass
class FactIndex(PublishedIndex, ModelWrittenMemory):
    """The published index of LongMemEval, whose keys also have facts that a model extracts; found by words."""

    join: str = parameter(
        "merge",
        "The key of a unit: its facts before its value, or instead of it.",
        choices=("merge", "replace"),
    )

    calls: ClassVar[Calls] = Calls(chat_write=1)
    prompt_stems: ClassVar[tuple[str, ...]] = ("facts",)

    async def _facts(self, units: Sequence[Sequence[Message]]) -> list[Sequence[str]]:
        """Return the facts of each unit: none if the user wrote nothing, or after a failed request."""
        values = [user_text([(message.role, message.text) for message in unit]) for unit in units]
        asked = [number for number, value in enumerate(values) if value.strip()]
        answers = await self.ask_all(
            PromptRequest(
                "facts",
                {"date": units[number][0].sent_at or "", "messages": values[number]},
                sources=[message.message_id for message in units[number]],
                loss="its facts are missing in the keys",
            )
            for number in asked
        )
        facts = {
            number: answer.facts for number, answer in zip(asked, answers, strict=True) if answer is not None
        }
        return [facts.get(number, ()) for number in range(len(units))]

    def _key(self, meta: Mapping[str, Any]) -> str:
        value, facts = super()._key(meta), " ".join(meta.get("facts", ()))
        if facts and (self.join == "replace" or not value.strip()):
            return facts
        return f"{facts} {value}" if facts else value


@dataclass
class DenseFactIndex(FactIndex):
    """The published index of LongMemEval, whose keys also have facts that a model extracts; found by embeddings."""

    calls: ClassVar[Calls] = Calls(chat_write=1, embed_write=1, embed_read=1)

    def __post_init__(self) -> None:
        self.index = Dense(self.store, UNIT)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store the units of a session with the vectors of their keys, from one embedding call."""
        units = await self._units(messages)
        keys = [self._key(unit["meta"]) for unit in units if unit["kind"] == UNIT]
        vectors = iter(await self.embed(keys, "passage"))
        for unit in units:
            self.store.add(**unit, vector=next(vectors) if unit["kind"] == UNIT else None)

    async def _ranked(self, query: str) -> list[Item]:
        units = self.store.live(UNIT)
        if not units:
            return []
        [vector] = await self.embed([query], "query")
        return list(self.index.search(vector, len(units)))


LONGMEMEVAL_BM25_FACTS = System(
    "longmemeval_bm25_facts", FactIndex, "LongMemEval, flat-bm25 with K = V + fact", ("k",)
)
LONGMEMEVAL_DENSE_FACTS = System(
    "longmemeval_dense_facts", DenseFactIndex, "LongMemEval, dense retrieval with K = V + fact", ("k",)
)
