"""The generative agent's memory: a stream of rated observations, and reflections on them (Park et al. 2023, section 4).

Each message is an observation with an importance of 1 to 10 from the model. What is recalled are the `k` with the
largest weighted sum of recency, importance and relevance (ranking.py). Park et al. stretch each term to [0, 1] over
all candidates, and so do we by default; MemEngine and MemBench's code do not (`normalise`). Recency counts messages,
where Park et al. count hours: a memory here has no clock.

Once the importance of the observations since the last reflection adds up to `threshold`, the agent reflects, once at
most for an arrival: it asks itself questions on its newest memories, retrieves memories for each, and writes insights
that cite them. Retrieving for a reflection counts as recalling, as in the published code. An insight is rated for
itself: MemBench's code rates the observation that set the reflection off.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from memflow.chat.scripted import Handler
from memflow.memories.access import ACCESS, Accesses
from memflow.memories.entries import Item, Vector
from memflow.memories.generative_agent import answers
from memflow.memories.generative_agent.answers import Insight, Insights, Questions, Rating
from memflow.memories.generative_agent.ranking import Weights, items, rank
from memflow.memories.generative_agent.scripted import HANDLERS
from memflow.memories.memory import Ask, Calls, Memory, Message, Recall, parameter
from memflow.memories.notes import fitting, joined, numbered, pieces, recalled
from memflow.memories.search import Dense, Found

OBSERVATION, REFLECTION = "observation", "reflection"
QUESTIONS = "questions"
"""Kind of the entries that say what a reflection asked: importance is counted anew from there."""

SHOWN = 8_000
"""Tokens of memories that a reflection shows the model at once, at most."""


@dataclass
class GenerativeAgent(Memory):
    """Recalls observations and reflections by recency, importance and relevance."""

    k: int = parameter(5, "How many memories are recalled (MemEngine's).", low=1)
    budget: int = parameter(0, "Tokens that are recalled at most (estimated); 0 for no limit.")
    recency: float = parameter(1.0, "Weight of recency.")
    importance: float = parameter(1.0, "Weight of importance.")
    relevance: float = parameter(1.0, "Weight of relevance.")
    decay: float = parameter(0.995, "Recency after one message; after n messages, its n-th power.")
    normalise: Literal["min_max", "none"] = parameter(
        "min_max",
        "Whether each term is stretched to [0, 1] over all memories, or taken as it is.",
        choices=("min_max", "none"),
    )
    threshold: int = parameter(150, "Importance, added up, that sets off a reflection.", low=1)
    recent: int = parameter(100, "How many of the newest memories a reflection's questions are about.", low=1)
    questions: int = parameter(
        answers.QUESTIONS, "How many questions a reflection asks.", low=1, high=answers.QUESTIONS
    )
    reflect_k: int = parameter(
        30, "How many memories are retrieved for a question.", low=1, high=answers.STATEMENTS
    )
    insights: int = parameter(
        answers.INSIGHTS, "How many insights a question gives.", low=1, high=answers.INSIGHTS
    )

    calls: ClassVar[Calls] = Calls(
        # A rating; and where it sets off a reflection: questions, insights for each, a rating for each of these.
        chat_write=1 + 1 + answers.QUESTIONS * (1 + answers.INSIGHTS),
        embed_write=3,
        embed_read=1,
        per="message",
    )
    bookkeeping: ClassVar[frozenset[str]] = Memory.bookkeeping | {ACCESS, QUESTIONS}

    def __post_init__(self) -> None:
        self.index = Dense(self.store, OBSERVATION, REFLECTION)
        self.accesses = Accesses(self.store)
        self.weights = Weights(self.recency, self.importance, self.relevance, self.decay, self.normalise)

    async def write(self, messages: Sequence[Message]) -> None:
        """Keep each with its importance and its vector, and reflect where the threshold is reached."""
        arrived = pieces(messages, "message")
        vectors, ratings = await asyncio.gather(
            self.embed([piece.text for piece in arrived]),
            self._rated((piece.text, piece.sources) for piece in arrived),
        )
        for piece, vector, rating in zip(arrived, vectors, ratings, strict=True):
            self.store.add(
                OBSERVATION, piece.text, sources=piece.sources, role=piece.role, vector=vector, meta=rating
            )
        if self._unreflected() >= self.threshold:
            await self._reflect()

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """The best memories; one that is not frozen makes them recent again."""
        if not self.store.live(OBSERVATION):
            return Recall()
        [vector] = await self.embed([query])
        recall = recalled(items(self._ranked(vector), self.k), self.budget or None)
        if not frozen:
            self.accesses.note(recall.entries, self.store.sequence)
        return recall

    @classmethod
    def handlers(cls) -> Mapping[str, Handler]:
        return HANDLERS

    async def _rated(self, memories: Iterable[tuple[str, Sequence[str]]]) -> list[dict[str, int]]:
        """`{"importance": 7}` for each text and its sources; empty, where the model gave none."""
        asks = [Ask("importance", {"memory": text}, sources) for text, sources in memories]
        ratings: list[Rating | None] = await self.ask_all(asks)
        return [{} if rating is None else {"importance": rating.importance} for rating in ratings]

    def _ranked(self, query: Vector) -> list[Found]:
        candidates = self.index.scored(query, len(self.store))
        last = [self.accesses.last(found.item) for found in candidates]
        ages = [
            self.store.sequence - (found.item.since if at is None else at)
            for found, at in zip(candidates, last, strict=True)
        ]
        return rank(candidates, ages, self.weights)

    def _unreflected(self) -> int:
        """Importance of the observations since the last reflection, added up."""
        asked = self.store.live(QUESTIONS)
        since = asked[-1].order if asked else -1
        observed = self.store.live(OBSERVATION)
        return sum(item.meta.get("importance", 0) for item in observed if item.order > since)

    async def _reflect(self) -> None:
        newest_first = self.store.live(OBSERVATION, REFLECTION)[::-1][: self.recent]
        recent = fitting(newest_first, SHOWN)[::-1]
        fields = {"memories": joined(recent), "count": self.questions}
        asked: Questions | None = await self.ask("questions", fields, sources=_sources(recent))
        questions = asked.questions[: self.questions] if asked else []
        # Written even where there are none: else every message from here on would set off another try.
        self.store.add(QUESTIONS, "\n".join(questions), sources=())
        vectors = await self.embed(questions)
        shown = [fitting(items(self._ranked(vector), self.reflect_k), SHOWN) for vector in vectors]
        self.accesses.note(
            [*{item.entry_id: item for each in shown for item in each}.values()], self.store.sequence
        )
        drawn: list[Insights | None] = await self.ask_all(
            Ask(
                "insights",
                {"statements": numbered(each), "count": self.insights},
                _sources(each),
                _cites_only(len(each)),
            )
            for each in shown
        )
        found = {
            insight.insight: (insight, each)
            for insights, each in zip(drawn, shown, strict=True)
            for insight in (insights.insights[: self.insights] if insights else ())
        }
        await self._conclude([(insight, _cited(insight, each)) for insight, each in found.values()])

    async def _conclude(self, drawn: Sequence[tuple[Insight, Sequence[Item]]]) -> None:
        """Write insights as reflections, which come from all that the memories they cite came from."""
        vectors, ratings = await asyncio.gather(
            self.embed([insight.insight for insight, _ in drawn]),
            self._rated((insight.insight, _sources(cited)) for insight, cited in drawn),
        )
        for (insight, cited), vector, rating in zip(drawn, vectors, ratings, strict=True):
            meta = {**rating, "because": [item.entry_id for item in cited]}
            self.store.add(REFLECTION, insight.insight, sources=_sources(cited), vector=vector, meta=meta)


def _sources(cited: Iterable[Item]) -> tuple[str, ...]:
    """What they came from, once each: a reflection among them has the sources of all it cites in turn."""
    return tuple(dict.fromkeys(source for item in cited for source in item.sources))


def _cited(insight: Insight, shown: Sequence[Item]) -> list[Item]:
    return [shown[number - 1] for number in dict.fromkeys(insight.because)]


def _cites_only(count: int) -> Callable[[Insights], str | None]:
    def check(drawn: Insights) -> str | None:
        wrong = [number for insight in drawn.insights for number in insight.because if number > count]
        return f"there is no statement {wrong[0]}; they are numbered 1 to {count}" if wrong else None

    return check
