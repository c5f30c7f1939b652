"""Conversion of replies to verdicts: each probe has one verdict per metric of its task.

A missing or failed reply has null values with a reason. All replies are first scored without a judge; then all judge
requests are sent at once, limited by the chat.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.scorers.registry import scorer_of, wants_published
from memflow.benchmarks.memorybench.scorers.scorer import (
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    MetricValue,
    Scorer,
    ScoringContext,
)
from memflow.benchmarks.memorybench.tasks.catalog import task
from memflow.benchmarks.verdicts import verdict_row
from memflow.errors import BadInput, BadSettings
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict


async def make_verdicts(
    domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
) -> list[Verdict]:
    """Return the verdicts of all test probes in order. The verdict of the probe's own metric comes first."""
    context = ScoringContext(backends, wants_published(domain), domain.seed)
    given = {reply.probe_id: reply for reply in replies}
    assistant = replies[0].assistant if replies else ""
    asked = [probe for probe in probes if probe.split == "test"]
    places: Counter[tuple[str, int]] = Counter()
    measured = []
    for probe in asked:
        task_at = probe.dataset, probe.checkpoint
        measured.append(await _computed(probe, given.get(probe.probe_id), places[task_at], context))
        places[task_at] += 1
    found = await asyncio.gather(*(_judged(one, context) for one in measured))
    return [
        verdict_row(
            domain,
            assistant,
            probe,
            mark.metric,
            mark.value,
            mark.reason,
            variant=mark.variant,
            completion=mark.completion,
        )
        for probe, values in zip(asked, found, strict=True)
        for mark in values
    ]


@dataclass(frozen=True, slots=True)
class _ScoredProbe:
    """A probe's scorer, metric keys and computed values. `answered` is None if no value needs a judge."""

    metric: Scorer
    rows: Sequence[MetricKey]
    computed: ComputedValues
    answered: AnsweredProbe | None = None


async def _computed(probe: Probe, reply: Reply | None, place: int, context: ScoringContext) -> _ScoredProbe:
    metric = scorer_of(task(probe.dataset))
    rows = metric.metric_keys(probe, context)
    if reply is None or reply.parsed is None or reply.reason is not None:
        return _ScoredProbe(metric, rows, ComputedValues(_missing_values(rows, _reason(reply))))
    answered = AnsweredProbe(probe, reply.parsed, place)
    try:
        return _ScoredProbe(metric, rows, await metric.compute(answered, context), answered)
    except BadSettings:
        raise  # No other reply would escape it.
    except BadInput as wrong:
        return _ScoredProbe(metric, rows, ComputedValues(_missing_values(rows, str(wrong))))


async def _judged(measured: _ScoredProbe, context: ScoringContext) -> list[MetricValue]:
    values = list(measured.computed.values)
    if measured.answered is not None:
        try:
            values += await measured.metric.judge(measured.answered, context, measured.computed)
        except BadInput as wrong:
            values = _missing_values(measured.rows, str(wrong))
    found = {mark.key: mark for mark in values}
    return [found[row] for row in measured.rows]


def _missing_values(rows: Sequence[MetricKey], reason: str) -> list[MetricValue]:
    return [MetricValue(metric, None, reason, variant) for metric, variant in rows]


def _reason(reply: Reply | None) -> str:
    """Return the reason why a reply has no values."""
    if reply is None:
        return "no reply; rerun the answers of this probe"
    return reply.reason or "the reply holds no answer"
