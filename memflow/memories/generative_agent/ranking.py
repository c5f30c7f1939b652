"""The ranking of generative agents: a weighted sum of recency, importance and relevance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memflow.memories.entries import Item
from memflow.memories.search import SearchHit

Normalise = Literal["min_max", "none"]


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the three terms, the decay per message, and the normalization to [0, 1]."""

    recency: float
    importance: float
    relevance: float
    decay: float
    normalise: Normalise


def rank(candidates: Sequence[SearchHit], ages: Sequence[int], weights: Weights) -> list[SearchHit]:
    """Return the candidates (with their cosines) by weighted sum, best first, ties by age.

    `ages` are messages since the last access. An unrated memory has importance 0. Sums use plain floats in order, so
    that a score does not depend on the other candidates' number.
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
    """Min-max normalize values to [0, 1]; all 0 if they are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def top_items(ranked: Sequence[SearchHit], k: int) -> list[Item]:
    """Return the best `k` entries."""
    return [found.item for found in ranked[:k]]
