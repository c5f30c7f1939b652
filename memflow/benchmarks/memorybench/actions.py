"""What users press: like, dislike, copy, as MemoryBench's action model draws them (paper, A.2.3).

Likes rise and dislikes fall with satisfaction S along a sigmoid; two constants scale them so that over a
population of S the wanted shares of likes and dislikes come out. How satisfied a user is, is feedback.py's.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from memflow.errors import BadInput

LIKE_RATE = 0.065 * 0.86
"""Share of answers liked: 6.5 % get any feedback, 86 % of it likes (paper, A.2.3)."""
DISLIKE_RATE = 0.065 * 0.14
STEEPNESS = 1.5
LIKE_MIDPOINT = 7.5
DISLIKE_MIDPOINT = 4.5
COPIES_PER_LIKE = 4

PUBLISHED: Mapping[int, float] = {
    1: 0.02, 2: 0.93, 3: 3.06, 4: 1.93, 5: 0.40, 6: 2.56, 7: 17.5, 8: 32.12, 9: 41.05, 10: 0.43,
}  # fmt: skip
"""The shares of S among the paper's own scores, in percent (Table 4)."""


@dataclass(frozen=True, slots=True)
class Actions:
    """Probabilities of liking and of disliking; they exclude each other. Copying is independent of both."""

    like: float
    dislike: float
    copy: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was pressed."""

    liked: bool
    disliked: bool
    copied: bool


def constants(histogram: Mapping[int, float]) -> tuple[float, float]:
    """c_L and c_D for a population of S: counts or shares by score. Raises BadInput for an empty one."""
    total = sum(histogram.values())
    if total <= 0:
        raise BadInput("an action model needs at least one satisfaction score; there is none")
    likes = sum(share * _rise(score) for score, share in histogram.items()) / total
    dislikes = sum(share * _fall(score) for score, share in histogram.items()) / total
    return LIKE_RATE / likes, DISLIKE_RATE / dislikes


def action_probabilities(
    satisfaction: int,
    family: str = "general",
    histogram: Mapping[int, float] = PUBLISHED,
    *,
    long_output: bool = False,
) -> Actions:
    """P(like | S), P(dislike | S) and P(copy | S), which is four likes where outputs are long, else 0.

    `family` is `general` (scores by a model) or `locomo` (scores from F1): the same form, but each is to be
    calibrated on its own `histogram`. Where a population is so one-sided that a probability would pass 1,
    it is 1.
    """
    if family not in ("general", "locomo"):
        raise BadInput(f"there is no action model {family!r}; there are general and locomo")
    c_like, c_dislike = constants(histogram)
    like = min(1.0, c_like * _rise(satisfaction))
    dislike = min(1.0 - like, c_dislike * _fall(satisfaction))
    return Actions(like, dislike, min(1.0, COPIES_PER_LIKE * like) if long_output else 0.0)


def draw(actions: Actions, seed: int) -> Drawn:
    """One user's presses."""
    chance = random.Random(seed)
    first, second = chance.random(), chance.random()
    liked = first < actions.like
    disliked = not liked and first < actions.like + actions.dislike
    return Drawn(liked, disliked, second < actions.copy)


def _rise(score: int) -> float:
    return 1 / (1 + math.exp(-STEEPNESS * (score - LIKE_MIDPOINT)))


def _fall(score: int) -> float:
    return 1 / (1 + math.exp(STEEPNESS * (score - DISLIKE_MIDPOINT)))
