"""What a wrong answer is due to: write, read and utilization failures, and AMemGym's memory score.

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


def memory_score(overall: npt.ArrayLike, upper_bound: npt.ArrayLike, random: npt.ArrayLike) -> Array:
    """Mean over periods of (overall - random) / (upper bound - random); the last axis is the period.

    Each period's accuracies are pooled over users. Axes before the last are many scores at once, and the same in
    all that have them. One number as upper bound or chance stands for every period. Negative below chance. NaN
    where some upper bound does not lie above chance: there is then no scale. Raises BadInput where a number is
    none, or periods are not those of `overall`.
    """
    scored, bound, chance = (
        _numbers(name, given)
        for name, given in (("overall", overall), ("upper bound", upper_bound), ("random", random))
    )
    periods = scored.shape[-1] if scored.ndim else 1
    if not periods:
        raise BadInput("a memory score is a mean over periods; `overall` has none")
    for name, other in (("upper bound", bound), ("random", chance)):
        if other.ndim and (other.shape[-1] != periods or not _broadcast(other.shape, scored.shape)):
            raise BadInput(
                f"overall has the shape {scored.shape}, {name} {other.shape}: give both for the same periods, "
                "which are the last axis"
            )
    above = bound - chance
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(above > _LEAST, (scored - chance) / above, np.nan)
    scores: Array = np.mean(np.atleast_1d(ratios), axis=-1)
    return scores


def _numbers(name: str, given: npt.ArrayLike) -> Array:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as wrong:
        raise BadInput(f"{name} is no array of numbers: {wrong}") from wrong


def _broadcast(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether the shapes are the same from the last axis on, as far as both reach."""
    return all(one == two for one, two in zip(reversed(shape), reversed(other), strict=False))


@dataclass(frozen=True, slots=True)
class Attribution:
    """Shares of one answer's failure: all 0 for a right answer, summing to 1 for a wrong one."""

    write: float = 0.0
    read: float = 0.0
    utilization: float = 0.0


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of many answers' failures: arrays of one shape, whose sum is 1 for a wrong answer and 0 for a
    right one."""

    write: Array
    read: Array
    utilization: Array


@dataclass(frozen=True, slots=True)
class Unattributed:
    """No attribution is to be had, and why."""

    reason: str


def by_evidence(
    evidence: AbstractSet[str], held: AbstractSet[str], recalled: AbstractSet[str], loss: float
) -> Attribution:
    """Divide the loss of one answer (1 minus its score) by what became of its evidence.

    All of it recalled: a utilization failure. Otherwise each message that was not recalled is a write failure
    where no live entry came from it, else a read failure, and the loss is shared between the two in
    proportion: AMemGym's rule, with messages for state variables. Raises BadInput without evidence.
    """
    if not evidence:
        raise BadInput("without evidence nothing can be attributed")
    missing = evidence - recalled
    if not missing:
        return Attribution(utilization=loss)
    unwritten = len(missing - held) / len(missing)
    return Attribution(write=loss * unwritten, read=loss * (1 - unwritten))


def by_counts(write_failures: npt.ArrayLike, read_failures: npt.ArrayLike, right: npt.ArrayLike) -> Shares:
    """Attribute answers by how many of their variables fail by write and by read, which is what the published code
    keeps of each question and period.

    The rule that the published figures follow: a wrong answer without such a variable is a utilization failure;
    otherwise it is shared in proportion to the two counts. Failure rates are means of the shares over all answers,
    and add up to 1 - overall. The arrays have one shape. Raises BadInput where they have not, where a count is
    negative, or where `right` is anything but 0 and 1.
    """
    writes, reads = _numbers("write failures", write_failures), _numbers("read failures", read_failures)
    hits = _numbers("right", right)
    if not writes.shape == reads.shape == hits.shape:
        raise BadInput(f"counts and answers differ in shape: {writes.shape}, {reads.shape}, {hits.shape}")
    if not (np.all(writes >= 0) and np.all(reads >= 0)):
        raise BadInput("a count of failing variables is negative or none")
    if not np.all((hits == 0) | (hits == 1)):
        raise BadInput("an answer is right (1) or wrong (0); something else was given")
    loss, failing = 1 - hits, writes + reads
    unknown = np.where(failing > 0, loss / np.maximum(failing, 1), 0.0)
    return Shares(writes * unknown, reads * unknown, np.where(failing > 0, 0.0, loss))


def attribution(
    truth: Sequence[Values], known: Sequence[Values | None], right: Sequence[bool | None]
) -> list[Attribution | Unattributed]:
    """Attribute the failures of one question over all periods of one user.

    `truth` holds the true values of its variables in each period, `known` what the state probe of that
    period answered, `right` whether the question was answered rightly; None where there is no answer. If
    all variables are known, a wrong answer is a utilization failure. Otherwise each unknown one is a write
    failure if it was unknown already when last written (its period of change, at or before this one), else
    a read failure; the answer is shared between the two in proportion. A right answer with unknown
    variables counts nowhere. Raises BadInput where the three differ in length.
    """
    if not len(truth) == len(known) == len(right):
        raise BadInput(
            f"{len(truth)} periods of true values, {len(known)} of probes and {len(right)} of answers; give one of "
            "each per period"
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
        written = last_write(truth, name, period)
        then = known[written]
        if then is None:
            return Unattributed(
                f"the state probe of period {written}, when {name} was last written, has no answer"
            )
        writes += then.get(name) != truth[written][name]
    reads = len(unknown) - writes
    return Attribution(write=writes / len(unknown), read=reads / len(unknown))


def last_write(truth: Sequence[Values], name: str, period: int) -> int:
    """The last period, up to `period`, in which the variable took a new value; 0 where it never did."""
    while period > 0 and truth[period][name] == truth[period - 1][name]:
        period -= 1
    return period
