"""How many episodes a sign-flip test needs to find a difference as large as the observed one.

The number needed is that of which POWER of all studies are significant at the 5 % level, two-sided, without correction
for other comparisons. A sign-flip test needs as many episodes as Student's t test, by Guenther's formula (The American
Statistician 35, 1981). The observed difference is itself uncertain, so the number has a 5 to 95 % range: that of the
5 % and the 95 % quantile of the standardized difference over bootstrap draws.
"""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput
from memflow.metrics.intervals import DRAWS, FEWEST, draw_weights
from memflow.metrics.paired import LEVEL, MINIMUM

Array = npt.NDArray[np.float64]
POWER = 0.8
MOST_EPISODES = 100_000
"""The largest number that is distinguished: larger ones are stated as more than this."""
SPREAD = (0.05, 0.95)
ROUNDING = 1e-9
Z, Z_POWER = NormalDist().inv_cdf(1 - LEVEL / 2), NormalDist().inv_cdf(POWER)


class EpisodesNeeded(NamedTuple):
    """The number of episodes needed and its 5 to 95 % range, at most MOST_EPISODES each."""

    value: int
    low: int
    high: int


def episodes_needed(totals: Array, *, seed: int = 0) -> list[EpisodesNeeded | None]:
    """Return the number of episodes needed for each column of `totals`, the sums of differences by episode.

    `totals` has the shape (episodes, columns); NaN marks an episode that has no pairs in a column. None with fewer than
    FEWEST episodes with pairs, and where all differences are 0. Raises BadInput for another shape.
    """
    if totals.ndim != 2:
        raise BadInput(
            f"`totals` has the shape {totals.shape}. Pass one row per episode and one column per difference."
        )
    return [_needed(column[np.isfinite(column)], seed) for column in totals.T]


def pseudo_values(left_out: Array, overall: Array) -> Array:
    """Return the jackknife's pseudo-values of a statistic that is no mean: what each episode adds to its value.

    `left_out` has the values without each episode, shape (episodes, columns), and `overall` those with all episodes.
    """
    values: Array = len(left_out) * overall - (len(left_out) - 1) * left_out
    return values


def _needed(differences: Array, seed: int) -> EpisodesNeeded | None:
    """Return the number of episodes needed, given the observed difference of each episode."""
    episodes = len(differences)
    if episodes < FEWEST or np.abs(differences).max() <= ROUNDING:
        return None
    scale = math.sqrt(episodes / (episodes - 1))
    mean, deviation = float(differences.mean()), float(differences.std()) * scale
    weights = draw_weights(episodes, seed, DRAWS) / episodes
    means, squares = weights @ differences, weights @ differences**2
    deviations = np.sqrt(np.maximum(squares - means**2, 1e-12 * (1 + squares))) * scale
    low, high = np.quantile(np.abs(mean + (means - mean) * scale) / deviations, SPREAD)
    ratio_of_mean = abs(mean) / deviation if deviation else math.inf
    value, *limits = (_number(float(ratio)) for ratio in (ratio_of_mean, high, low))
    return EpisodesNeeded(value, min(value, *limits), max(value, *limits))


def _number(ratio: float) -> int:
    """Return the number of episodes for a standardized difference: the mean divided by the standard deviation."""
    if ratio <= ROUNDING:
        return MOST_EPISODES
    episodes = ((Z + Z_POWER) / ratio) ** 2 + Z**2 / 2
    return min(MOST_EPISODES, max(MINIMUM, math.ceil(episodes)))
