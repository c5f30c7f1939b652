"""Conversion of replies to verdicts: each probe has one verdict per metric of its task.

A missing or failed reply has null values with a reason. All replies are first scored without a judge; then all judge
requests are sent at once, limited by the chats. With several judges, memflow/scoring/judges.py combines their values.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.scorers.registry import scorer_of, wants_published
from memflow.benchmarks.memorybench.scorers.scorer import (
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    Scorer,
    ScoringContext,
    in_order,
)
from memflow.benchmarks.memorybench.tasks.catalog import task
from memflow.benchmarks.multiple_choice import ungradable_reason
from memflow.benchmarks.verdicts import MetricValue, values_of_judges, verdict_rows
from memflow.errors import BadInput, BadSettings
from memflow.judges.withheld import withheld_reason
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
    contexts = {
        name: replace(context, backends=replace(backends, judge=judge))
        for name, judge in backends.judges.items()
    } or {"": context}
    by_judge = await asyncio.gather(
        *(asyncio.gather(*(_judged(probe, each) for probe in measured)) for each in contexts.values())
    )
    values = [
        values_of_judges(dict(zip(contexts, of_judges, strict=True)), probe.scorer.judged)
        for probe, of_judges in zip(measured, zip(*by_judge, strict=True), strict=True)
    ]
    return verdict_rows(domain, assistant, asked, values)


@dataclass(frozen=True, slots=True)
class _ScoredProbe:
    """A probe's scorer, metric keys and computed values. `answered` is None if no value needs a judge."""

    scorer: Scorer
    keys: Sequence[MetricKey]
    computed: ComputedValues
    answered: AnsweredProbe | None = None


async def _computed(probe: Probe, reply: Reply | None, place: int, context: ScoringContext) -> _ScoredProbe:
    scorer = scorer_of(task(probe.dataset))
    keys = scorer.metric_keys(probe, context)
    reason = ungradable_reason(probe, reply)
    if reason is not None or reply is None or reply.parsed is None:
        return _ScoredProbe(scorer, keys, ComputedValues(_missing_values(keys, reason or "")))
    answered = AnsweredProbe(probe, reply.parsed, place)
    try:
        return _ScoredProbe(scorer, keys, await scorer.compute(answered, context), answered)
    except BadSettings:
        raise  # No other reply would escape it.
    except BadInput as wrong:
        return _ScoredProbe(scorer, keys, ComputedValues(_missing_values(keys, str(wrong))))


async def _judged(measured: _ScoredProbe, context: ScoringContext) -> list[MetricValue]:
    values, scorer = list(measured.computed.values), measured.scorer
    names = [f"memorybench/{stem}" for stem in scorer.stems]
    if reason := next(filter(None, (withheld_reason(context.backends.judge, name) for name in names)), None):
        values = [value for value in values if value.metric not in scorer.judged]
        values += _missing_values([key for key in measured.keys if key[0] in scorer.judged], reason)
    elif measured.answered is not None:
        try:
            values += await scorer.judge(measured.answered, context, measured.computed)
        except BadInput as wrong:
            values = _missing_values(measured.keys, str(wrong))
    return in_order(values, measured.keys, scorer.missing(context))


def _missing_values(keys: Sequence[MetricKey], reason: str) -> list[MetricValue]:
    return [MetricValue(metric, None, reason, variant) for metric, variant in keys]
