"""What users press: like, dislike, copy, as MemoryBench's action model has them (paper, A.2.3). Numbers alone.

Likes rise and dislikes fall with satisfaction S; two constants scale them so that over a population of S the wanted
shares of likes and dislikes come out. How satisfied a user is, is reactions.py's; what the users of a domain press,
presses.py's; noise in S, noise.py's.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from memflow.errors import BadInput

Family = Literal["general", "binary", "deterministic"]
"""Where S comes from: a model's score, right or wrong (3 or 9), or F1. Each is calibrated on its own population."""
LEAST, MOST = 1, 10
"""The scale of S."""
RIGHT_FROM = 6
"""From here on S is that of a right answer: it lies half-way between 3 and 9, which noise may blur."""

PUBLISHED: Mapping[Family, Mapping[int, float]] = {
    "general": {
        1: 0.02, 2: 0.93, 3: 3.06, 4: 1.93, 5: 0.40, 6: 2.56, 7: 17.5, 8: 32.12, 9: 41.05, 10: 0.43,
    },
    "binary": {3: 43.5, 9: 56.5},
}  # fmt: skip
"""Shares of S in the paper, in percent: Table 4; and those with which its two probabilities for DialSim, 9.9 % and
2.1 %, come out. Of LoCoMo's there is none."""


class ActionModel(BaseModel):
    """How readily users press. The defaults are the paper's.

    Rates are the shares of answers liked and disliked: 6.5 % get either, 86 % of these a like. S0 is `midpoint`, k is
    `steepness`: a high `like_midpoint` is a user who likes little but the best, a low one a user who likes anything.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    like_rate: float = Field(0.065 * 0.86, ge=0, le=1)
    dislike_rate: float = Field(0.065 * 0.14, ge=0, le=1)
    like_steepness: float = Field(1.5, gt=0, le=20)
    dislike_steepness: float = Field(1.5, gt=0, le=20)
    like_midpoint: float = Field(7.5, ge=LEAST, le=MOST)
    dislike_midpoint: float = Field(4.5, ge=LEAST, le=MOST)
    copies_per_like: float = Field(4, ge=0, le=100)

    @model_validator(mode="after")
    def _one_at_most(self) -> "ActionModel":
        if self.like_rate + self.dislike_rate > 1:
            raise ValueError("like_rate and dislike_rate add up to more than 1; nobody presses both")
        return self


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


@dataclass(frozen=True, slots=True)
class Calibrated:
    """An action model with the constants c_L and c_D that a population of S gives it."""

    family: Family
    model: ActionModel
    c_like: float
    c_dislike: float

    def actions(self, satisfaction: int, *, long_output: bool = False) -> Actions:
        """P(like | S), P(dislike | S) and P(copy | S), which is so many likes where outputs are long, else 0.

        Where a population is so one-sided that a probability would pass 1, it is 1 (`fits` tells).
        """
        if not LEAST <= satisfaction <= MOST:
            raise BadInput(f"satisfaction is {satisfaction}; it goes from {LEAST} to {MOST}")
        rise, fall = _shapes(satisfaction, self.family, self.model)
        like = min(1.0, self.c_like * rise)
        dislike = min(1.0 - like, self.c_dislike * fall)
        return Actions(like, dislike, min(1.0, self.model.copies_per_like * like) if long_output else 0.0)

    def fits(self, satisfaction: int) -> bool:
        """Whether P(like | S) + P(dislike | S) is at most 1 as calibrated, with nothing cut off."""
        rise, fall = _shapes(satisfaction, self.family, self.model)
        return self.c_like * rise + self.c_dislike * fall <= 1.0


def calibrate(
    histogram: Mapping[int, float], family: Family = "general", model: ActionModel | None = None
) -> Calibrated:
    """`model` with its rates as the means over a population of S: counts or shares by score.

    A rate that nobody in the population could give (likes, where nobody is right) stays 0. Raises BadInput for an
    empty population, for one off the scale and for a family that there is not.
    """
    _known(family)
    total = sum(histogram.values())
    if total <= 0:
        raise BadInput("an action model needs at least one satisfaction score; there is none")
    if any(not LEAST <= score <= MOST or share < 0 for score, share in histogram.items()):
        raise BadInput(f"shares of satisfaction are for scores from {LEAST} to {MOST}, and none is below 0")
    model = model or ActionModel()
    shapes = {score: _shapes(score, family, model) for score in histogram}
    likes = sum(share * shapes[score][0] for score, share in histogram.items()) / total
    dislikes = sum(share * shapes[score][1] for score, share in histogram.items()) / total
    return Calibrated(
        family,
        model,
        model.like_rate / likes if likes else 0.0,
        model.dislike_rate / dislikes if dislikes else 0.0,
    )


def action_probabilities(
    satisfaction: int,
    family: Family = "general",
    histogram: Mapping[int, float] | None = None,
    *,
    long_output: bool = False,
    model: ActionModel | None = None,
) -> Actions:
    """P(like | S), P(dislike | S) and P(copy | S) of one score, calibrated on `histogram`, or on the paper's own
    where none is given (Table 4; it has none for `deterministic`). Raises BadInput."""
    _known(family)
    population = PUBLISHED.get(family) if histogram is None else histogram
    if population is None:
        raise BadInput(
            f"the paper publishes no satisfaction scores for the action model {family!r}: give a histogram, "
            "the number of scores from 1 to 10"
        )
    return calibrate(population, family, model).actions(satisfaction, long_output=long_output)


def draw(actions: Actions, chance: random.Random) -> Drawn:
    """One user's presses."""
    first, second = chance.random(), chance.random()
    liked = first < actions.like
    disliked = not liked and first < actions.like + actions.dislike
    return Drawn(liked, disliked, second < actions.copy)


def _known(family: str) -> None:
    if family not in get_args(Family):
        raise BadInput(f"there is no action model {family!r}; there are {', '.join(get_args(Family))}")


def _shapes(score: int, family: Family, model: ActionModel) -> tuple[float, float]:
    """How likes rise and dislikes fall with S, before they are scaled: sigmoids, or a step between right and wrong."""
    if family == "binary":
        return (1.0, 0.0) if score >= RIGHT_FROM else (0.0, 1.0)
    return (
        _sigmoid(model.like_steepness * (score - model.like_midpoint)),
        _sigmoid(-model.dislike_steepness * (score - model.dislike_midpoint)),
    )


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))
