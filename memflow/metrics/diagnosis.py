"""What a wrong answer is due to: write, read and utilisation failures, and AMemGym's memory score.

Two attributions: AMemGym's own by state probes (paper, section 3.3; the one its figures follow, where the
published code stops at the counts), and one by evidence, which serves every benchmark. Numbers in, numbers
out; which replies they come from is the benchmark's scores.py, and attribution.py.
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
"""Above rounding, below any difference that counts can make."""


def memory_score(overall: Array, upper_bound: Array, random: Array) -> Array:
    """Mean over periods of (overall - random) / (upper bound - random); the last axis is the period.

    Each period's accuracies are pooled over users. Negative below chance. NaN where some upper bound does
    not lie above chance: there is then no scale.
    """
    above = upper_bound - random
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(above > _LEAST, (overall - random) / above, np.nan)
    scores: Array = np.mean(ratios, axis=-1)
    return scores


@dataclass(frozen=True, slots=True)
class Attribution:
    """Shares of one answer's failure: all 0 for a right answer, summing to 1 for a wrong one."""

    write: float = 0.0
    read: float = 0.0
    utilisation: float = 0.0


@dataclass(frozen=True, slots=True)
class Unattributed:
    """No attribution is to be had, and why."""

    reason: str


def by_evidence(
    evidence: AbstractSet[str], held: AbstractSet[str], recalled: AbstractSet[str], loss: float
) -> Attribution:
    """Divide the loss of one answer (1 minus its score) by what became of its evidence.

    All of it recalled: a utilisation failure. Otherwise each message that was not recalled is a write failure
    where no live entry came from it, else a read failure, and the loss is shared between the two in
    proportion: AMemGym's rule, with messages for state variables. Raises BadInput without evidence.
    """
    if not evidence:
        raise BadInput("without evidence nothing can be attributed")
    missing = evidence - recalled
    if not missing:
        return Attribution(utilisation=loss)
    unwritten = len(missing - held) / len(missing)
    return Attribution(write=loss * unwritten, read=loss * (1 - unwritten))


def attribution(
    truth: Sequence[Values], known: Sequence[Values | None], right: Sequence[bool | None]
) -> list[Attribution | Unattributed]:
    """Attribute the failures of one question over all periods of one user.

    `truth` holds the true values of its variables in each period, `known` what the state probe of that
    period answered, `right` whether the question was answered rightly; None where there is no answer. If
    all variables are known, a wrong answer is a utilisation failure. Otherwise each unknown one is a write
    failure if it was unknown already when last written (its period of change, at or before this one), else
    a read failure; the answer is shared between the two in proportion. A right answer with unknown
    variables counts nowhere.
    """
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
        return Attribution(utilisation=1.0)
    writes = 0
    for name in unknown:
        written = last_write(truth, name, period)
        then = known[written]
        if then is None:
            return Unattributed(
                f"the state probe of period {written}, when {name} was last written, has no answer"
            )
        writes += then.get(name) != truth[written][name]
    return Attribution(write=writes / len(unknown), read=1 - writes / len(unknown))


def last_write(truth: Sequence[Values], name: str, period: int) -> int:
    """The last period, up to `period`, in which the variable took a new value; 0 where it never did."""
    while period > 0 and truth[period][name] == truth[period - 1][name]:
        period -= 1
    return period
