"""DialSim: an answer is right if it equals the gold or a judge finds it equivalent (A.1.1)."""

from collections.abc import Sequence

from memflow.benchmarks.memorybench.scorers.scorer import (
    STANDARD,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    MetricValue,
    ScoringContext,
    ask_judge,
    judged_value,
)
from memflow.benchmarks.memorybench.tasks.catalog import ACCURACY
from memflow.metrics.text import exact_match
from memflow.records import Probe


def metric_keys(probe: Probe, context: ScoringContext) -> list[MetricKey]:
    return [(ACCURACY, STANDARD)]


async def compute(answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
    exact = exact_match(answered.answer, answered.probe.gold)
    return ComputedValues([MetricValue(ACCURACY, 1.0)] if exact else [])


async def judge(
    answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
) -> Sequence[MetricValue]:
    if computed.values:
        return []
    probe = answered.probe
    fields = {"question": probe.question, "gold": probe.gold, "answer": answered.answer}
    answer = await ask_judge(context, "dialsim_judge", fields)
    return [judged_value(ACCURACY, answer, lambda judged: judged.correct)]


async def accurate(probe: Probe, answer: str, context: ScoringContext) -> MetricValue:
    """Return 1.0 or 0.0, or no value with the reason."""
    answered = AnsweredProbe(probe, answer)
    found = await compute(answered, context)
    return (found.values or await judge(answered, context, found))[0]


def prompts(published: bool) -> list[str]:
    return ["dialsim_judge"]


def required_backends(metric: str) -> frozenset[str]:
    return frozenset()
