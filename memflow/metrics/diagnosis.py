"""Attribution of wrong answers to write, read and utilization failures, and AMemGym's memory score.

AMemGym attributes failures by state probes (paper, section 3.3). Attribution by evidence works for every benchmark.
The functions take and return numbers; the benchmarks and memflow/scoring/attribution.py process the replies.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput

Array = npt.NDArray[np.float64]
Values = Mapping[str, str]

_LEAST = 1e-9
"""Above rounding errors, below any difference of counts."""


def memory_score(overall: npt.ArrayLike, upper_bound: npt.ArrayLike, random: npt.ArrayLike) -> Array:
    """Return the mean over periods of (overall - random) / (upper bound - random).

    Arguments are accuracies pooled over users. The last axis is the period; axes before it are independent scores. A
    single number as upper bound or random accuracy applies to every period. The score is negative below random
    accuracy, and NaN if an upper bound is not above it. Raises BadInput for different numbers of periods.
    """
    scored, bound, chance = (np.asarray(part, dtype=np.float64) for part in (overall, upper_bound, random))
    periods = scored.shape[-1] if scored.ndim else 1
    if not periods:
        raise BadInput("`overall` has no periods. Pass the score of at least one period.")
    for name, other in (("upper bound", bound), ("random", chance)):
        if other.ndim and other.shape[-1] != periods:
            raise BadInput(
                f"`overall` has the shape {scored.shape}, but {name} has {other.shape}. Pass the same "
                "periods in the last axis of both."
            )
    above = bound - chance
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(above > _LEAST, (scored - chance) / above, np.nan)
    scores: Array = np.mean(np.atleast_1d(ratios), axis=-1)
    return scores


@dataclass(frozen=True, slots=True)
class Attribution:
    """One answer's shares of write, read and utilization failures; their sum is 1 if wrong, 0 if correct."""

    write: float = 0.0
    read: float = 0.0
    utilization: float = 0.0


@dataclass(frozen=True, slots=True)
class Unattributed:
    """The reason why the loss of an answer cannot be attributed to failures."""

    reason: str


def attribute_by_evidence(
    evidence: AbstractSet[str], held: AbstractSet[str], recalled: AbstractSet[str], loss: float
) -> Attribution:
    """Return the attribution of an answer's loss (1 minus its score) by the state of its evidence messages.

    If all messages were recalled, the loss is a utilization failure. Otherwise the missed messages share the loss
    equally: a write failure if no current entry came from the message, else a read failure. This is AMemGym's
    rule, with messages instead of variables. Raises BadInput without evidence.
    """
    if not evidence:
        raise BadInput("`evidence` contains no message. Exclude answers without evidence messages.")
    missing = evidence - recalled
    if not missing:
        return Attribution(utilization=loss)
    unwritten = len(missing - held) / len(missing)
    return Attribution(write=loss * unwritten, read=loss * (1 - unwritten))


def attribute_by_states(
    truth: Sequence[Values], known: Sequence[Values | None], right: Sequence[bool | None]
) -> list[Attribution | Unattributed]:
    """Return the attribution of one question's failures over all periods of one user, by state probes.

    `truth` contains the values of the question's variables per period, `known` the answers of the state probes, `right`
    whether the question was answered correctly; None is a missing answer. If all variables are known, a wrong answer is
    a utilization failure. Otherwise an unknown variable is a write failure if it was unknown when it last changed, else
    a read failure; the loss is shared in proportion. Raises BadInput for different lengths.
    """
    if not len(truth) == len(known) == len(right):
        raise BadInput(
            f"`truth` has {len(truth)} periods, `known` {len(known)} and `right` {len(right)}. Pass "
            "one value of each per period."
        )
    return [_attributed(truth, known, right[period], period) for period in range(len(truth))]


def _attributed(
    truth: Sequence[Values], known: Sequence[Values | None], right: bool | None, period: int
) -> Attribution | Unattributed:
    if right is None:
        return Unattributed("the question has no answer")
    if right:
        return Attribution()
    now = known[period]
    if now is None:
        return Unattributed(f"the state probe of period {period} has no answer")
    unknown = [name for name, value in truth[period].items() if now.get(name) != value]
    if not unknown:
        return Attribution(utilization=1.0)
    writes = 0
    for name in unknown:
        written = last_change(truth, name, period)
        then = known[written]
        if then is None:
            return Unattributed(
                f"the state probe of period {written}, when {name} was last written, has no answer"
            )
        writes += then.get(name) != truth[written][name]
    reads = len(unknown) - writes
    return Attribution(write=writes / len(unknown), read=reads / len(unknown))


def last_change(truth: Sequence[Values], name: str, period: int) -> int:
    """Return the last period up to `period` in which the variable changed, or 0."""
    while period > 0 and truth[period][name] == truth[period - 1][name]:
        period -= 1
    return period
