"""WritingBench: a judge's score from 1 to 10 by the question's criteria (A.1.1).

`standard` averages one request per criterion, as WritingBench does; `published_code`, MemoryBench's, asks once for
all.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.memorybench.scorers.scorer import (
    PUBLISHED,
    STANDARD,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    MetricValue,
    ScoringContext,
    ask_judge,
    completion_digest,
    judged_value,
    wanted_variants,
)
from memflow.benchmarks.memorybench.tasks.catalog import CRITERIA
from memflow.records import Probe


def metric_keys(probe: Probe, context: ScoringContext) -> list[MetricKey]:
    return [(CRITERIA, variant) for variant in wanted_variants(context)]


async def compute(answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
    return ComputedValues()


async def judge(
    answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
) -> Sequence[MetricValue]:
    ways = {STANDARD: _one_by_one, PUBLISHED: _at_once}
    return list(
        await asyncio.gather(*(ways[variant](answered, context) for variant in wanted_variants(context)))
    )


async def _one_by_one(answered: AnsweredProbe, context: ScoringContext) -> MetricValue:
    criteria = answered.gold("criteria")
    answers = await asyncio.gather(
        *(ask_judge(context, "criterion", _fields(answered, [each])) for each in criteria)
    )
    failed = [
        f"{each['name']}: {answer.reason}"
        for each, answer in zip(criteria, answers, strict=True)
        if answer.value is None
    ]
    if failed:
        return MetricValue(CRITERIA, None, "; ".join(failed))
    scores = [answer.value.score for answer in answers if answer.value is not None]
    one = completion_digest(answers[0]) if len(answers) == 1 else None
    return MetricValue(CRITERIA, sum(scores) / len(scores), completion=one)


async def _at_once(answered: AnsweredProbe, context: ScoringContext) -> MetricValue:
    answer = await ask_judge(context, "criteria", _fields(answered, answered.gold("criteria")))
    return judged_value(CRITERIA, answer, lambda graded: graded.score, PUBLISHED)


def _fields(answered: AnsweredProbe, criteria: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {
        "request": answered.probe.question,
        "answer": answered.answer,
        "criteria": "\n\n".join(_told(each) for each in criteria),
    }


def _told(criterion: Mapping[str, Any]) -> str:
    levels = [f"{scores}: {says}" for scores, says in criterion.get("levels", {}).items()]
    return "\n".join([f"{criterion['name']}: {criterion['description']}", *levels])


def prompts(published: bool) -> list[str]:
    return ["criterion", "criteria"] if published else ["criterion"]


def required_backends(metric: str) -> frozenset[str]:
    return frozenset()
