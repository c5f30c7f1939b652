"""HelloBench: mean of a judge's scores on a checklist, from 0 (no) to 1 (yes) in quarters (A.1.1), in one request."""

from collections.abc import Sequence

from memflow.benchmarks.memorybench.scorers.answers import Checked
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
from memflow.benchmarks.memorybench.tasks.catalog import CHECKLIST
from memflow.records import Probe


def metric_keys(probe: Probe, context: ScoringContext) -> list[MetricKey]:
    return [(CHECKLIST, STANDARD)]


async def compute(answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
    return ComputedValues()


async def judge(
    answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
) -> Sequence[MetricValue]:
    asked = answered.gold("checklist")

    def complete(checked: Checked) -> str | None:
        if [item.number for item in checked.items] == list(range(1, len(asked) + 1)):
            return None
        return f"give one item for each of the questions 1 to {len(asked)}, in order"

    fields = {
        "request": answered.probe.question,
        "answer": answered.answer,
        "checklist": "\n".join(f"{number}. {question}" for number, question in enumerate(asked, start=1)),
    }
    answer = await ask_judge(context, "checklist", fields, complete)
    return [judged_value(CHECKLIST, answer, _mean)]


def _mean(checked: Checked) -> float:
    return sum(item.score.value for item in checked.items) / len(checked.items)


def prompts(published: bool) -> list[str]:
    return ["checklist"]


def required_backends(metric: str) -> frozenset[str]:
    return frozenset()
