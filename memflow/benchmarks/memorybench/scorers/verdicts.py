"""Replies -> verdicts: every probe asked has one under its own metric and under each measure of its task.

A reply that is missing or failed has null values with its reason. What is computed comes first, for all; then all
requests to the judge go out at once, and the chat bounds those in flight.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.scorers.metric import Answered, Computed, Mark, Means, Metric, Row
from memflow.benchmarks.memorybench.scorers.registry import metric_of, wants_published
from memflow.benchmarks.memorybench.tasks.catalogue import task
from memflow.errors import BadInput, BadSettings
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict


async def make_verdicts(
    domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], instruments: MetricBackends
) -> list[Verdict]:
    """The verdicts of all test probes, probe by probe in order; of each, its own metric first."""
    means = Means(instruments, wants_published(domain), domain.seed)
    given = {reply.probe_id: reply for reply in replies}
    assistant = replies[0].assistant if replies else ""
    asked = [probe for probe in probes if probe.split == "test"]
    places: Counter[tuple[str, int]] = Counter()
    measured = []
    for probe in asked:
        task_at = probe.dataset, probe.checkpoint
        measured.append(await _computed(probe, given.get(probe.probe_id), places[task_at], means))
        places[task_at] += 1
    found = await asyncio.gather(*(_judged(one, means) for one in measured))
    return [
        _verdict(domain.name, assistant, probe, mark)
        for probe, marks in zip(asked, found, strict=True)
        for mark in marks
    ]


@dataclass(frozen=True, slots=True)
class _Measured:
    """A probe, the rows it is to have, and what was computed; without `answered` that is all."""

    metric: Metric
    rows: Sequence[Row]
    computed: Computed
    answered: Answered | None = None


async def _computed(probe: Probe, reply: Reply | None, place: int, means: Means) -> _Measured:
    metric = metric_of(task(probe.dataset))
    rows = metric.rows(probe, means)
    if reply is None or reply.parsed is None or reply.reason is not None:
        return _Measured(metric, rows, Computed(_lost(rows, _reason(reply))))
    answered = Answered(probe, reply.parsed, place)
    try:
        return _Measured(metric, rows, await metric.computed(answered, means), answered)
    except BadSettings:
        raise  # No other reply would escape it.
    except BadInput as wrong:
        return _Measured(metric, rows, Computed(_lost(rows, str(wrong))))


async def _judged(measured: _Measured, means: Means) -> list[Mark]:
    marks = list(measured.computed.marks)
    if measured.answered is not None:
        try:
            marks += await measured.metric.judge(measured.answered, means, measured.computed)
        except BadInput as wrong:
            marks = _lost(measured.rows, str(wrong))
    found = {mark.row: mark for mark in marks}
    return [found[row] for row in measured.rows]


def _lost(rows: Sequence[Row], reason: str) -> list[Mark]:
    return [Mark(metric, None, reason, variant) for metric, variant in rows]


def _reason(reply: Reply | None) -> str:
    """Why there is nothing to measure."""
    if reply is None:
        return "there is no reply; answer this probe again"
    return reply.reason or "the reply holds no answer"


def _verdict(domain: str, assistant: str, probe: Probe, mark: Mark) -> Verdict:
    return Verdict(
        domain=domain,
        assistant=assistant,
        probe_id=probe.probe_id,
        episode_id=probe.episode_id,
        checkpoint=probe.checkpoint,
        dataset=probe.dataset,
        category=probe.category,
        metric=mark.metric,
        variant=mark.variant,
        value=mark.value,
        completion=mark.completion,
        reason=mark.reason,
    )
