"""Conversion of replies to verdicts: each probe has one verdict per metric of its task.

A missing or failed reply has null values with a reason. All replies are first scored without a judge; then all judge
requests are sent at once, limited by the chats. With several judges, memflow/scoring/judges.py combines their values.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
from memflow.judges.withheld import withheld_reason
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict
from memflow.scoring.judges import JudgedValue, judge_variant, mean_of_judges, rows_of_judges


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
    contexts = {
        name: replace(context, backends=replace(backends, judge=judge))
        for name, judge in backends.judges.items()
    } or {"": context}
    by_judge = await asyncio.gather(
        *(asyncio.gather(*(_judged(one, each) for one in measured)) for each in contexts.values())
    )
    found = [
        _of_judges(one, dict(zip(contexts, values, strict=True)))
        for one, values in zip(measured, zip(*by_judge, strict=True), strict=True)
    ]
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
    judged = measured.metric.judged
    names = [f"memorybench/{stem}" for stem in measured.metric.stems]
    if reason := next(filter(None, (withheld_reason(context.backends.judge, name) for name in names)), None):
        values = [mark for mark in values if mark.metric not in judged]
        values += _missing_values([row for row in measured.rows if row[0] in judged], reason)
    elif measured.answered is not None:
        try:
            values += await measured.metric.judge(measured.answered, context, measured.computed)
        except BadInput as wrong:
            values = _missing_values(measured.rows, str(wrong))
    found = {mark.key: mark for mark in values}
    return [found[row] for row in measured.rows]


def _of_judges(measured: _ScoredProbe, by_judge: Mapping[str, list[MetricValue]]) -> list[MetricValue]:
    """Return the verdict values of a probe, given the values by each judge."""

    def mean(values: Mapping[str, MetricValue]) -> MetricValue:
        combined = mean_of_judges({name: JudgedValue(one.value, one.reason) for name, one in values.items()})
        first = next(iter(values.values()))
        return replace(first, value=combined.value, reason=combined.reason, completion=None)

    return rows_of_judges(
        by_judge,
        lambda one: one.metric in measured.metric.judged,
        mean,
        lambda one, judge: replace(one, variant=judge_variant(one.variant, judge)),
    )


def _missing_values(rows: Sequence[MetricKey], reason: str) -> list[MetricValue]:
    return [MetricValue(metric, None, reason, variant) for metric, variant in rows]


def _reason(reply: Reply | None) -> str:
    """Return the reason why a reply has no values."""
    if reply is None:
        return "no reply; rerun the answers of this probe"
    return reply.reason or "the reply holds no answer"
