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
    Memory,
    Message,
    ModelWrittenMemory,
    PromptRequest,
    parameter,
)
from memflow.memories.search import Dense
from memflow.memories.systems import System

KEY = "key"


@dataclass
class FactIndex(PublishedIndex, ModelWrittenMemory):
    """The published index of LongMemEval, whose keys also have facts that a model extracts; found by words."""

    join: str = parameter(
        "merge",
        "Keys of a unit: its facts before its value, value and facts separately, or facts instead of the value.",
        choices=("merge", "separate", "replace"),
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

    def _keys(self, meta: Mapping[str, Any]) -> list[str]:
        values, facts = super()._keys(meta), " ".join(meta.get("facts", ()))
        if not facts:
            return values
        merged = " ".join([facts, *values])
        return {"merge": [merged], "separate": [*values, facts], "replace": [facts]}[self.join]


@dataclass
class DenseFactIndex(FactIndex):
    """The published index of LongMemEval, whose keys also have facts that a model extracts; found by embeddings.

    A unit's entry has the vector of its first key. A second key, of the join `separate`, is an entry of kind `key`.
    """

    calls: ClassVar[Calls] = Calls(chat_write=1, embed_write=1, embed_read=1)
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {KEY}

    def __post_init__(self) -> None:
        self.index = Dense(self.store, UNIT, KEY)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store the units of a session with the vectors of their keys, from one embedding call."""
        units = await self._units(messages)
        keys = [self._keys(unit["meta"]) for unit in units]
        vectors = iter(await self.embed([key for unit_keys in keys for key in unit_keys], "passage"))
        for unit, unit_keys in zip(units, keys, strict=True):
            item = self.store.add(**unit, vector=next(vectors) if unit_keys else None)
            for key in unit_keys[1:]:
                self.store.add(
                    KEY, key, sources=item.sources, vector=next(vectors), meta={"unit": item.entry_id}
                )

    async def _ranked(self, query: str) -> list[Item]:
        units = {unit.entry_id: unit for unit in self.store.live(UNIT)}
        if not units:
            return []
        [vector] = await self.embed([query], "query")
        keys = self.index.search(vector, len(self.store.live(UNIT, KEY)))
        return [units[name] for name in dict.fromkeys(key.meta.get("unit", key.entry_id) for key in keys)]


LONGMEMEVAL_BM25_FACTS = System(
    "longmemeval_bm25_facts", FactIndex, "LongMemEval, flat-bm25 with K = V + fact", ("k",)
)
LONGMEMEVAL_DENSE_FACTS = System(
    "longmemeval_dense_facts", DenseFactIndex, "LongMemEval, dense retrieval with K = V + fact", ("k",)
)
