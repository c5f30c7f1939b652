"""The states of a measure, a measurement, and the state of a memory over all its measures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memflow.records import HealthMeasure

State = Literal["ok", "suspect", "faulty", "not measurable"]
OK: State = "ok"
SUSPECT: State = "suspect"
"""The score may be wrong: the flag stands wherever the score stands."""
FAULTY: State = "faulty"
"""The score cannot be the memory's: it is null."""
NOT_MEASURABLE: State = "not measurable"
STATES: tuple[State, ...] = (FAULTY, SUSPECT, OK, NOT_MEASURABLE)
"""The states, worst first. What is not measurable is better than nothing, and never reads as ok."""

MIN_OBSERVATIONS = 5
"""Messages, reads or texts below which a share is no share: a domain of four messages shows nothing."""
FAULTY_SHARE = 0.9
"""From this share of lost messages, or of failed or empty reads, what is scored is an assistant without memory."""
EXAMPLES = 5
"""Ids that a measurement names: enough to look at, few enough for a line."""

LONGEST = 200
"""Characters of a reason in a statement."""


@dataclass(frozen=True)
class Measurement:
    """The result of one measure over `n` items. `reason` is why it is not measurable, otherwise None."""

    measure: str
    state: State
    statement: str
    value: float | None = None
    n: int = 0
    affected: Sequence[str] = ()
    """Ids of the messages, entries, reads or episodes that it concerns."""
    percentiles_s: Sequence[float] = ()
    """Of a latency: the 50th, 95th and 99th percentile; otherwise empty."""
    reason: str | None = None

    def row(self, domain: str, assistant: str) -> HealthMeasure:
        """Return the measurement as a row of `score.health`."""
        return HealthMeasure(
            domain=domain,
            assistant=assistant,
            measure=self.measure,
            state=self.state,
            value=self.value,
            n=self.n,
            affected=len(self.affected),
            statement=self.statement,
            examples=list(self.affected[:EXAMPLES]),
            percentiles_s=list(self.percentiles_s),
            reason=self.reason,
        )


def not_measurable(measure: str, reason: str, n: int = 0) -> Measurement:
    """Return the measurement of what cannot be measured, with its reason as a sentence."""
    return Measurement(measure, NOT_MEASURABLE, f"not measurable: {reason}", n=n, reason=reason)


def share_measurement(
    measure: str,
    affected: Sequence[str],
    n: int,
    statement: str,
    *,
    faulty: float | None = None,
    suspect: float | None = None,
    at_least: int = 1,
) -> Measurement:
    """Return the measurement of a share, `affected` of `n`, with its state by the thresholds that are given.

    Fewer than `at_least` affected ids are no alarm.
    """
    share = len(affected) / n
    state = OK
    if len(affected) >= at_least:
        if suspect is not None and share >= suspect:
            state = SUSPECT
        if faulty is not None and share >= faulty:
            state = FAULTY
    return Measurement(measure, state, statement, share, n, affected)


def example_text(reasons: Sequence[str]) -> str:
    """Return the first reason as the end of a statement, in whole sentences if it is long; empty without reasons."""
    if not reasons:
        return ""
    reason = " ".join(reasons[0].split())
    if len(reason) > LONGEST:
        sentences, stop, _ = reason[:LONGEST].rpartition(". ")
        reason = f"{sentences}." if stop else f"{reason[:LONGEST]}..."
    return f", such as: {reason}"


def overall_state(rows: Iterable[HealthMeasure]) -> tuple[State, str]:
    """Return the worst state of an assistant's measures and the statement of the first measure that has it.

    Measures stand in the order in which they explain each other: a failed write is stated, and not that nothing could
    be read. Without rows, or if nothing is measurable, the state is `not measurable`.
    """
    rows = list(rows)
    for state in STATES:
        statements = [row.statement for row in rows if row.state == state]
        if not statements:
            continue
        if state == OK:
            measured_count = sum(row.state != NOT_MEASURABLE for row in rows)
            return OK, f"none of {measured_count} measures shows a fault"
        return state, statements[0]
    return NOT_MEASURABLE, "not measurable: there is no measure of this memory"
