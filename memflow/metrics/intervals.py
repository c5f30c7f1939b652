"""95 % confidence intervals over episodes: one method for each kind of statistic.

| statistic | method |
|---|---|
| proportion: a mean of values that are 0 or 1 | Korn and Graubard, with a floor of the intra-cluster correlation |
| mean of other values | CR2 standard error with Satterthwaite's degrees of freedom |
| any other score of sums over episodes, and paired differences | jackknife or expanded bootstrap |

The units are episodes, not probes: the probes of an episode share one history and are not independent. With fewer than
FEWEST units there is no interval, and its place has the reason. bench/intervals.py measures coverage and width.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput

Array = npt.NDArray[np.float64]
Statistic = Callable[[Array], Array]
"""Maps weights or signs of episodes, shape (m, episodes), to values of shape (m, columns)."""
LEVEL = 0.95
FEWEST = 3
"""Units below which there is no interval: no method reaches its coverage with two, short of the whole range."""
CORRELATION = 0.05
"""The smallest intra-cluster correlation that is assumed: few episodes estimate it badly, and often as 0."""
FEW = 8
"""Episodes below which a statistic that is no mean has Student's t with the jackknife's standard error."""
DRAWS = 2000
CACHED = 500
"""The number of episodes up to which draws are cached, of up to 8 MB: all scores of a leaderboard use the same."""
NO_VARIATION = "no variation between episodes"
UNDEFINED = "not defined without one of the episodes"
_NORMAL = NormalDist()


class Interval(NamedTuple):
    """A value and its 95 % confidence interval. The value is None without data.

    `low` and `high` are None where there is no interval; `reason` then states why, such as `2 episodes`. `units` are
    what the interval is over.
    """

    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None
    units: str = "episodes"


class Units(NamedTuple):
    """The independent units of a mean: arrays with one item per group of units of the same size.

    `totals` and `counts` are the sum of the values and their number. A group has `units` units, and `squares` is the
    sum of the squared totals of its units. An episode is a group of one unit.
    """

    totals: Array
    counts: Array
    squares: Array
    units: Array
    name: str = "episodes"

    @classmethod
    def of_episodes(cls, totals: Sequence[float], counts: Sequence[float]) -> "Units":
        """Return the episodes with values as units. Raises BadInput for lists of different lengths."""
        if len(totals) != len(counts):
            raise BadInput(
                f"`totals` has {len(totals)} values, but `counts` has {len(counts)}. Pass one of each per episode."
            )
        return cls.of_sums((total, count, None) for total, count in zip(totals, counts, strict=True))

    @classmethod
    def of_sums(cls, sums: Iterable[tuple[float, float, float | None]]) -> "Units":
        """Return units, given the sum, the number and the sum of squares of the values of each episode.

        The sum of squares is None for an episode that is one unit; otherwise each of its values is a unit, a case.
        """
        rows = [row for row in sums if row[1]]
        names = dict.fromkeys("episodes" if squares is None else "cases" for *_, squares in rows)
        columns = np.array(
            [
                (total, count, total**2, 1) if squares is None else (total, count, squares, count)
                for total, count, squares in rows
            ],
            dtype=np.float64,
        )
        totals, counts, squares, units = columns.reshape(-1, 4).T
        return cls(totals, counts, squares, units, " and ".join(sorted(names, reverse=True)) or "episodes")

    @property
    def number(self) -> int:
        """The number of units."""
        return int(self.units.sum())

    @property
    def mean(self) -> float | None:
        """The pooled mean, sum(totals) / sum(counts); None without values."""
        if not self.counts.sum():
            return None
        ones = np.ones((1, len(self.totals)))
        return float((ones @ self.totals)[0] / (ones @ self.counts)[0])

    @property
    def sizes(self) -> Array:
        """The number of values of each unit of a group."""
        return self.counts / self.units

    def squared_residuals(self, mean: float) -> Array:
        """Return, by group, the sum over units of (total - mean x count) squared; at least 0 despite rounding."""
        size = self.sizes
        around = self.squares - 2 * mean * size * self.totals + self.units * (mean * size) ** 2
        around[around < 1e-12 * (1 + self.squares)] = 0.0
        return np.asarray(around)

    def too_few(self) -> str | None:
        """Return the reason why there is no interval over these units; None if there are enough."""
        if self.number >= FEWEST:
            return None
        return f"{self.number} {self.name if self.number != 1 else self.name.removesuffix('s')}"


def proportion_interval(units: Units) -> Interval:
    """Return a proportion and its interval by Korn and Graubard (Survey Methodology 24, 1998).

    The interval is that of Clopper and Pearson with the effective number of values n / deff x (t(n - 1) / t(k - 1))^2,
    where k is the number of units and t the 97.5 % quantile. The design effect deff is the variance between units
    divided by that of n independent values, and at least 1 + (m - 1) x CORRELATION, where m is the mean size of the
    unit of a value. At 0 and 1 the interval has one open end. Values between 0 and 1 are allowed: at the same mean they
    vary less than 0 and 1.
    """
    from scipy.special import betaincinv  # noqa: PLC0415  (its import takes 0.2 s)

    mean, n, k = units.mean, float(units.counts.sum()), units.number
    if mean is None:
        return Interval(None, None, None, units=units.name)
    if reason := units.too_few():
        return Interval(mean, None, None, reason, units.name)
    share = min(1.0, max(0.0, mean))
    independent_variance = share * (1 - share) / n
    variance = k / (k - 1) * float(units.squared_residuals(mean).sum()) / n**2
    size = float((units.counts * units.sizes).sum()) / n
    effect = max(
        variance / independent_variance if independent_variance else 0.0, 1 + (size - 1) * CORRELATION
    )
    effective = n / effect * (student_t(n - 1) / student_t(k - 1)) ** 2
    successes, failures = effective * share, effective * (1 - share)
    tail = (1 - LEVEL) / 2
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return Interval(mean, min(low, mean), max(high, mean), units=units.name)


def mean_interval(units: Units, low: float = -math.inf, high: float = math.inf) -> Interval:
    """Return the pooled mean and its interval with the CR2 standard error, cut off at `low` and `high`.

    Student's t has Satterthwaite's degrees of freedom (Bell and McCaffrey, Survey Methodology 28, 2002; Pustejovsky and
    Tipton, Journal of Business and Economic Statistics 36, 2018). For a mean, CR2 divides the squared residual of a
    unit by 1 - its share of the values.
    """
    mean = units.mean
    if mean is None:
        return Interval(None, None, None, units=units.name)
    if reason := units.too_few():
        return Interval(mean, None, None, reason, units.name)
    error, degrees = cluster_error(units, mean)
    if not error:
        return Interval(mean, None, None, NO_VARIATION.replace("episodes", units.name), units.name)
    reach = student_t(degrees) * error
    return Interval(
        mean, min(mean, max(low, mean - reach)), max(mean, min(high, mean + reach)), None, units.name
    )


def cluster_error(units: Units, mean: float) -> tuple[float, float]:
    """Return a mean's CR2 standard error (0 without variation), and its degrees of freedom. Needs two units."""
    n, size, number = float(units.counts.sum()), units.sizes, units.units
    scale = 1 / (1 - size / n)
    variance = float((units.squared_residuals(mean) * scale).sum()) / n**2
    # The elements of P'P for the working model of independent values: m on the diagonal, -a m a' m' / n elsewhere.
    together = scale * size**2
    across = float((number * together).sum()) ** 2 - float((number * together**2).sum())
    degrees = n**2 / (float((number * size**2).sum()) + across / n**2)
    return math.sqrt(variance), degrees


def statistic_interval(statistic: Callable[[Array], Array], episodes: int, *, seed: int = 0) -> Interval:
    """Return a statistic of sums over episodes with its 95 % confidence interval, resampled over episodes.

    `statistic` maps weights of episodes, shape (m, episodes), to m values; weights of 1 give the value itself.
    """
    if episodes == 0:
        return Interval(None, None, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        if not np.isfinite(statistic(np.ones((1, episodes)))[0]):
            return Interval(None, None, None)
        value, low, high, error = (
            float(part[0]) for part in resampled(lambda weights: statistic(weights)[:, None], episodes, seed)
        )
    if math.isfinite(low) and math.isfinite(high):
        return Interval(value, low, high)
    return Interval(value, None, None, no_interval(episodes, error))


def no_interval(episodes: int, error: float) -> str:
    """Return why `resampled` gave no interval for this number of episodes and standard error."""
    if episodes < FEWEST:
        return f"{episodes} episode{'s' * (episodes != 1)}"
    return UNDEFINED if math.isnan(error) else NO_VARIATION


def resampled(statistic: Statistic, episodes: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """Return (value, low, high, standard error), arrays with one item per column of `statistic`.

    The interval is the percentile bootstrap with wider quantiles for few episodes (Hesterberg, The American
    Statistician 69, 2015, section 5), below FEW episodes Student's t with the jackknife's standard error. `low` and
    `high` are NaN with fewer than FEWEST episodes and without variation between episodes.
    """
    value = statistic(np.ones((1, episodes)))[0]
    no_values = np.full(value.size, np.nan)
    if episodes < 2:
        return value, no_values, no_values, no_values
    t = student_t(episodes - 1)
    if episodes < FEW:
        left_out = statistic(1 - np.eye(episodes))
        error = np.sqrt((episodes - 1) / episodes * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
        low, high = value - t * error, value + t * error
    else:
        draws = statistic(draw_weights(episodes, seed, DRAWS))
        scale = math.sqrt(episodes / (episodes - 1))
        share = _NORMAL.cdf(-t * scale)
        finite = np.isfinite(draws).all()
        draws = draws if finite else np.where(np.isfinite(draws), draws, np.nan)
        low, high = (np.quantile if finite else np.nanquantile)(draws, [share, 1 - share], axis=0)
        error = (np.std if finite else np.nanstd)(draws, axis=0) * scale
    is_constant = error <= 1e-12 * (1 + np.abs(value))
    if episodes < FEWEST or is_constant.any():
        has_no_interval = is_constant | (episodes < FEWEST)
        low, high = np.where(has_no_interval, np.nan, low), np.where(has_no_interval, np.nan, high)
    return value, low, high, error


def draw_weights(episodes: int, seed: int, draws: int) -> Array:
    """Return how often each episode is drawn in each bootstrap sample, a read-only array of shape (draws, episodes)."""
    weights = _draw if episodes <= CACHED else _draw.__wrapped__
    return weights(episodes, seed, draws)


@lru_cache(maxsize=16)
def _draw(episodes: int, seed: int, draws: int) -> Array:
    shares = np.full(episodes, 1 / episodes)
    weights = np.random.default_rng(seed).multinomial(episodes, shares, size=draws).astype(np.float64)
    weights.flags.writeable = False
    return weights


@lru_cache(maxsize=4096)
def student_t(degrees: float) -> float:
    """Return the 97.5 % quantile of Student's t."""
    from scipy.special import stdtrit  # noqa: PLC0415  (its import takes 0.2 s)

    return float(stdtrit(degrees, 1 - (1 - LEVEL) / 2))
