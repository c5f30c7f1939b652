"""MemoryBench's action model: probabilities of like, dislike and copy, given satisfaction (paper, A.2.3).

As satisfaction S rises, likes become more probable and dislikes less. Two constants calibrate the probabilities so that
their means over a population of S equal given rates.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import Field, model_validator

from memflow.benchmarks.models import StrictModel

Family = Literal["general", "binary", "deterministic"]
"""Source of S: a model's score, correctness (3 or 9), or F1. Each family is calibrated on its own population."""
MIN_SATISFACTION, MAX_SATISFACTION = 1, 10
"""The scale of S."""
MIN_RIGHT_SATISFACTION = 6
"""Lowest S of a right answer: the middle between 3 and 9, because noise may change S."""

PUBLISHED_HISTOGRAMS: Mapping[Family, Mapping[int, float]] = {
    "general": {
        1: 0.02, 2: 0.93, 3: 3.06, 4: 1.93, 5: 0.40, 6: 2.56, 7: 17.5, 8: 32.12, 9: 41.05, 10: 0.43,
    },
    "binary": {3: 43.5, 9: 56.5},
}  # fmt: skip
"""Published shares of S in percent: Table 4, and for DialSim those that reproduce its two probabilities."""


class ActionModel(StrictModel):
    """Parameters of the action model, with the paper's defaults.

    6.5 % of the answers are liked or disliked, and 86 % of these are liked.
    """

    like_rate: float = Field(0.065 * 0.86, ge=0, le=1)
    """Share of the answers that are liked."""
    dislike_rate: float = Field(0.065 * 0.14, ge=0, le=1)
    """Share of the answers that are disliked."""
    like_steepness: float = Field(1.5, gt=0, le=20)
    """Steepness k_L of the sigmoid of likes."""
    dislike_steepness: float = Field(1.5, gt=0, le=20)
    """Steepness k_D of the sigmoid of dislikes."""
    like_midpoint: float = Field(7.5, ge=MIN_SATISFACTION, le=MAX_SATISFACTION)
    """Midpoint S0_L of the sigmoid of likes: from 3 to 9 in the paper's first noise. A user with a high
    one likes rarely."""
    dislike_midpoint: float = Field(4.5, ge=MIN_SATISFACTION, le=MAX_SATISFACTION)
    """Midpoint S0_D of the sigmoid of dislikes."""
    copies_per_like: float = Field(4, ge=0, le=100)
    """Ratio of copies to likes, for long outputs."""

    @model_validator(mode="after")
    def _one_at_most(self) -> "ActionModel":
        if self.like_rate + self.dislike_rate > 1:
            raise ValueError(
                f"like_rate {self.like_rate} and dislike_rate {self.dislike_rate} sum to more than 1; lower one of them"
            )
        return self


@dataclass(frozen=True, slots=True)
class ActionProbabilities:
    """Probabilities of like and dislike, which exclude each other, and of copy, which is independent of them."""

    like: float
    dislike: float
    copy: float


class DrawnActions(NamedTuple):
    """The randomly drawn actions of a user."""

    liked: bool
    disliked: bool
    copied: bool


@dataclass(frozen=True, slots=True)
class CalibratedModel:
    """An action model with the constants c_L and c_D, calibrated for a distribution of satisfaction scores S."""

    family: Family
    model: ActionModel
    c_like: float
    c_dislike: float

    def actions(self, satisfaction: int, *, long_output: bool = False) -> ActionProbabilities:
        """Return P(like | S), P(dislike | S) and P(copy | S), at most 1. Only long outputs can be copied."""
        rise, fall = _shapes(satisfaction, self.family, self.model)
        like = min(1.0, self.c_like * rise)
        dislike = min(1.0 - like, self.c_dislike * fall)
        return ActionProbabilities(
            like, dislike, min(1.0, self.model.copies_per_like * like) if long_output else 0.0
        )


def calibrate(
    histogram: Mapping[int, float], family: Family = "general", model: ActionModel | None = None
) -> CalibratedModel:
    """Return `model`, calibrated so that mean probabilities over a histogram of scores equal its rates.

    An unreachable rate is 0.
    """
    model = model or ActionModel()
    shapes = {score: _shapes(score, family, model) for score in histogram}
    total = sum(histogram.values())
    likes = sum(share * shapes[score][0] for score, share in histogram.items()) / total
    dislikes = sum(share * shapes[score][1] for score, share in histogram.items()) / total
    return CalibratedModel(
        family,
        model,
        model.like_rate / likes if likes else 0.0,
        model.dislike_rate / dislikes if dislikes else 0.0,
    )


def draw_actions(actions: ActionProbabilities, chance: random.Random) -> DrawnActions:
    """Return the actions of a user, drawn with these probabilities."""
    first, second = chance.random(), chance.random()
    liked = first < actions.like
    disliked = not liked and first < actions.like + actions.dislike
    return DrawnActions(liked, disliked, second < actions.copy)


def _shapes(score: int, family: Family, model: ActionModel) -> tuple[float, float]:
    """Return the uncalibrated values of like and dislike: sigmoids of S, or 0 and 1 for the family `binary`."""
    if family == "binary":
        return (1.0, 0.0) if score >= MIN_RIGHT_SATISFACTION else (0.0, 1.0)
    return (
        _sigmoid(model.like_steepness * (score - model.like_midpoint)),
        _sigmoid(-model.dislike_steepness * (score - model.dislike_midpoint)),
    )


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))
