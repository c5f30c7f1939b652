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
    accuracy, bound, chance = (
        np.asarray(argument, dtype=np.float64) for argument in (overall, upper_bound, random)
    )
    periods = accuracy.shape[-1] if accuracy.ndim else 1
    if not periods:
        raise BadInput("`overall` has no periods. Pass the score of at least one period.")
    for name, array in (("upper bound", bound), ("random", chance)):
        if array.ndim and array.shape[-1] != periods:
            raise BadInput(
                f"`overall` has the shape {accuracy.shape}, but {name} has {array.shape}. Pass the same "
                "periods in the last axis of both."
            )
    headroom = bound - chance
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(headroom > _LEAST, (accuracy - chance) / headroom, np.nan)
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
    evidence: AbstractSet[str], stored: AbstractSet[str], recalled: AbstractSet[str], loss: float
) -> Attribution:
    """Return the attribution of an answer's loss (1 minus its score) by the state of its evidence messages.

    If all messages were recalled, the loss is a utilization failure. Otherwise the missed messages share the loss
    equally: a write failure if no current entry came from the message, else a read failure. This is AMemGym's
    rule, with messages instead of variables. Raises BadInput without evidence.
    """
    if not evidence:
        raise BadInput("`evidence` contains no message. Exclude answers without evidence messages.")
    missed_messages = evidence - recalled
    if not missed_messages:
        return Attribution(utilization=loss)
    unwritten = len(missed_messages - stored) / len(missed_messages)
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
    """Return the attribution of the answer in one period, from 0; `right` is whether that answer is correct."""
    if right is None:
        return Unattributed("the question has no answer")
    if right:
        return Attribution()
    answers = known[period]
    if answers is None:
        return Unattributed(f"the state probe of period {period} has no answer")
    wrong_variables = [name for name, value in truth[period].items() if answers.get(name) != value]
    if not wrong_variables:
        return Attribution(utilization=1.0)
    writes = 0
    for name in wrong_variables:
        write_period = last_change(truth, name, period)
        answers_at_write = known[write_period]
        if answers_at_write is None:
            return Unattributed(
                f"the state probe of period {write_period}, when {name} was last written, has no answer"
            )
        writes += answers_at_write.get(name) != truth[write_period][name]
    reads = len(wrong_variables) - writes
    return Attribution(write=writes / len(wrong_variables), read=reads / len(wrong_variables))


def last_change(truth: Sequence[Values], name: str, period: int) -> int:
    """Return the last period up to and including `period` in which the variable changed; 0 if it never did."""
    while period > 0 and truth[period][name] == truth[period - 1][name]:
        period -= 1
    return period
