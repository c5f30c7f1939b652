"""How a generative agent ranks its memories: recency, importance and relevance, weighted and added up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memflow.memories.entries import Item
from memflow.memories.search import SearchHit

Normalise = Literal["min_max", "none"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What the three terms count, how fast recency decays with a message, and whether each is stretched to [0, 1]."""

    recency: float
    importance: float
    relevance: float
    decay: float
    normalise: Normalise


def rank(candidates: Sequence[SearchHit], ages: Sequence[int], weights: Weights) -> list[SearchHit]:
    """The candidates (each with its cosine) by their sums, best first, the older first among equals.

    `ages` are the messages since each was last recalled. A memory that the model did not rate gets nothing
    from importance. Plain floats, one after the other: the last bit does not depend on what is beside it.
    """
    recency = [weights.decay**age for age in ages]
    relevance = [found.score for found in candidates]
    rated = [found.item.meta.get("importance") for found in candidates]
    importance = [value / 10 for value in rated if value is not None]
    if weights.normalise == "min_max":
        recency, relevance, importance = (_stretched(term) for term in (recency, relevance, importance))
    given = iter(importance)
    scored = [
        SearchHit(
            found.item,
            weights.recency * recent
            + weights.relevance * relevant
            + (0.0 if value is None else weights.importance * next(given)),
        )
        for found, recent, relevant, value in zip(candidates, recency, relevance, rated, strict=True)
    ]
    return sorted(scored, key=_best_first)


def _best_first(found: SearchHit) -> tuple[float, int]:
    return -found.score, found.item.order


def _stretched(values: Sequence[float]) -> list[float]:
    """The values moved and stretched to [0, 1]; all 0 where they are all equal, and so tell nothing apart."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def top_items(ranked: Sequence[SearchHit], k: int) -> list[Item]:
    """The best `k`, without their scores."""
    return [found.item for found in ranked[:k]]
