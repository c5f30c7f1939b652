"""Generative agents: a stream of rated observations, and reflections on them (Park et al. 2023, section 4).

A read ranks by recency, importance and relevance. When the importance since the last reflection reaches
`threshold`, the agent asks itself questions and writes insights that cite memories.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from memflow.chat.limits import ItemCheck
from memflow.memories.access import ACCESS, AccessLog
from memflow.memories.entries import Item, Vector, sources_of
from memflow.memories.generative_agent.answers import Insight, Insights, Questions, Rating
from memflow.memories.memory import (
    Calls,
    Memory,
    Message,
    ModelWrittenMemory,
    PromptRequest,
    Recall,
    parameter,
)
from memflow.memories.notes import first_within, join_texts, number_texts, recalled, split_messages
from memflow.memories.search import Dense, SearchHit


def _best_first(hit: SearchHit) -> tuple[float, int]:
    return -hit.score, hit.item.order


def _normalize(values: Sequence[float]) -> list[float]:
    """Return the values, min-max normalized to [0, 1]; all are 0 if the values are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def top_items(hits: Sequence[SearchHit], k: int) -> list[Item]:
    """Return the entries of the first `k` search hits."""
    return [hit.item for hit in hits[:k]]


OBSERVATION, REFLECTION = "observation", "reflection"
QUESTIONS = "questions"
"""Kind of the entries with a reflection's questions; importance is summed from there."""

SHOWN = 8_000
"""The maximum tokens of memories in one reflection request."""
MOST_QUESTIONS, MOST_INSIGHTS = 3, 5
"""The most questions of a reflection, and the most insights per question."""


@dataclass
class GenerativeAgent(ModelWrittenMemory):
    """A memory of rated observations and of reflections, found by recency, importance and relevance.

    Recency counts messages, not hours. As in the published code, retrieval for a reflection counts as an access; each
    insight gets a separate rating.
    """

    k: int = parameter(5, "Number of recalled memories (as in MemEngine).", low=1)
    budget: int = parameter(0, "Maximum number of recalled tokens (estimated); 0 for no limit.")
    recency: float = parameter(1.0, "Weight of recency.")
    importance: float = parameter(1.0, "Weight of importance.")
    relevance: float = parameter(1.0, "Weight of relevance.")
    decay: float = parameter(0.995, "Factor of the recency per message.")
    normalise: Literal["min_max", "none"] = parameter(
        "min_max",
        "The normalization of each term: to [0, 1] over all memories, or none.",
        choices=("min_max", "none"),
    )
    threshold: int = parameter(150, "Sum of importance that triggers a reflection.", low=1)
    recent: int = parameter(100, "Number of newest memories that a reflection's questions cover.", low=1)
    questions: int = parameter(
        MOST_QUESTIONS, "Number of questions per reflection.", low=1, high=MOST_QUESTIONS
    )
    reflect_k: int = parameter(30, "Number of memories retrieved per question.", low=1)
    insights: int = parameter(MOST_INSIGHTS, "Number of insights per question.", low=1, high=MOST_INSIGHTS)

    calls: ClassVar[Calls] = Calls(
        # A rating. A reflection adds: the questions, insights per question, and a rating per insight.
        chat_write=1 + 1 + MOST_QUESTIONS * (1 + MOST_INSIGHTS),
        embed_write=3,
        embed_read=1,
        per="message",
    )
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {ACCESS, QUESTIONS}

    def __post_init__(self) -> None:
        self.index = Dense(self.store, OBSERVATION, REFLECTION)
        self.accesses = AccessLog(self.store)

    async def write(self, messages: Sequence[Message]) -> None:
        """Add each message with its importance and vector, and reflect if the threshold is reached."""
        drafts = split_messages(messages, "message")
        vectors, ratings = await asyncio.gather(
            self.embed([draft.text for draft in drafts], "passage"),
            self._rate((draft.text, draft.sources) for draft in drafts),
        )
        for draft, vector, rating in zip(drafts, vectors, ratings, strict=True):
            self.store.add(
                OBSERVATION, draft.text, sources=draft.sources, role=draft.role, vector=vector, meta=rating
            )
        if self._unreflected_importance() >= self.threshold:
            await self._reflect()

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the best observations and reflections; unless `frozen`, record the access, which resets recency."""
        if not self.store.live(OBSERVATION):
            return Recall()
        [vector] = await self.embed([query], "query")
        recall = recalled(top_items(self._rank(vector), self.k), self.budget or None)
        if not frozen:
            self.accesses.note(recall.entries, self.store.sequence)
        return recall

    async def _rate(self, memories: Iterable[tuple[str, Sequence[str]]]) -> list[dict[str, int]]:
        """Return `{"importance": rating}` for each (text, sources), or `{}` if the model returned no rating."""
        requests = [PromptRequest("importance", {"memory": text}, sources) for text, sources in memories]
        ratings: list[Rating | None] = await self.ask_all(requests)
        return [{} if rating is None else {"importance": rating.importance} for rating in ratings]

    def _rank(self, query: Vector) -> list[SearchHit]:
        """Return all live memories ranked for a query vector, best first."""
        candidates = self.index.scored(query, len(self.store))
        last_accesses = [self.accesses.last(hit.item) for hit in candidates]
        ages = [
            self.store.sequence - (hit.item.since if last_access is None else last_access)
            for hit, last_access in zip(candidates, last_accesses, strict=True)
        ]
        return self.rank(candidates, ages)

    def rank(self, candidates: Sequence[SearchHit], ages: Sequence[int]) -> list[SearchHit]:
        """Return the candidates by weighted sum of recency, importance and relevance, best first; ties by age.

        `ages` counts messages since the last access; the scores of candidates are cosines. An unrated memory has
        importance 0. Plain floats are summed in order, so a score does not depend on the number of candidates.
        """
        recency = [self.decay**age for age in ages]
        relevance = [hit.score for hit in candidates]
        ratings = [hit.item.meta.get("importance") for hit in candidates]
        importance = [rating / 10 for rating in ratings if rating is not None]
        if self.normalise == "min_max":
            recency, relevance, importance = map(_normalize, (recency, relevance, importance))
        importance_of_rated = iter(importance)
        hits = []
        for index, hit in enumerate(candidates):
            score = self.recency * recency[index] + self.relevance * relevance[index]
            if ratings[index] is not None:
                score += self.importance * next(importance_of_rated)
            hits.append(SearchHit(hit.item, score))
        return sorted(hits, key=_best_first)

    def _unreflected_importance(self) -> int:
        """Return the sum of the importance ratings of the observations since the last reflection."""
        question_entries = self.store.live(QUESTIONS)
        last_order = question_entries[-1].order if question_entries else -1
        observations = self.store.live(OBSERVATION)
        return sum(item.meta.get("importance", 0) for item in observations if item.order > last_order)

    async def _reflect(self) -> None:
        """Ask for questions about the newest entries, and store the insights that answer them."""
        newest_first = self.store.live(OBSERVATION, REFLECTION)[::-1][: self.recent]
        recent_memories = first_within(newest_first, SHOWN)[::-1]
        fields = {"memories": join_texts(recent_memories), "count": self.questions}
        answer: Questions | None = await self.ask("questions", fields, sources=sources_of(recent_memories))
        questions = answer.questions[: self.questions] if answer else []
        # Added even without questions: otherwise every later message would start a reflection again.
        self.store.add(QUESTIONS, "\n".join(questions), sources=())
        vectors = await self.embed(questions, "query")
        evidence = [first_within(top_items(self._rank(vector), self.reflect_k), SHOWN) for vector in vectors]
        accessed = {item.entry_id: item for memories in evidence for item in memories}
        self.accesses.note(list(accessed.values()), self.store.sequence)
        answers: list[Insights | None] = await self.ask_all(
            PromptRequest(
                "insights",
                {"statements": number_texts(memories), "count": self.insights},
                sources_of(memories),
                _citation_check(len(memories)),
                numbers={"because": len(memories)},
            )
            for memories in evidence
        )
        citations: dict[str, tuple[Insight, Sequence[Item]]] = {}  # by text: equal insights are added once
        for answer_insights, memories in zip(answers, evidence, strict=True):
            for insight in answer_insights.insights[: self.insights] if answer_insights else ():
                citations[insight.insight] = (insight, _cited_memories(insight, memories))
        await self._add_reflections(list(citations.values()))

    async def _add_reflections(self, insights: Sequence[tuple[Insight, Sequence[Item]]]) -> None:
        """Add insights as reflections, with the sources of all memories that they cite."""
        vectors, ratings = await asyncio.gather(
            self.embed([insight.insight for insight, _ in insights], "passage"),
            self._rate((insight.insight, sources_of(cited)) for insight, cited in insights),
        )
        for (insight, cited), vector, rating in zip(insights, vectors, ratings, strict=True):
            meta = {**rating, "because": [item.entry_id for item in cited]}
            self.store.add(REFLECTION, insight.insight, sources=sources_of(cited), vector=vector, meta=meta)


def _cited_memories(insight: Insight, memories: Sequence[Item]) -> list[Item]:
    return [memories[number - 1] for number in dict.fromkeys(insight.because)]


def _citation_check(count: int) -> ItemCheck:
    """Return a function that finds the error in an insight: the number of a statement above `count`."""

    def check(insight: Insight, accepted: Sequence[Insight]) -> str | None:
        wrong_numbers = [number for number in insight.because if number > count]
        return (
            f"there is no statement {wrong_numbers[0]}; they are numbered 1 to {count}"
            if wrong_numbers
            else None
        )

    return check
