"""NF-Cats: a judge's score from 1 to 5 of how far an answer solves its question, without gold (A.1.1, after NTCIR-18).

`published_code` shows the judge the assistant's full prompt. That code also accepts scores of 6 to 10, and uses 1
without a
score; ours does neither.
"""

import asyncio
from collections.abc import Sequence

from memflow.benchmarks.memorybench.question import full_question
from memflow.benchmarks.memorybench.scorers.scorer import (
    PUBLISHED,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    MetricValue,
    ScoringContext,
    ask_judge,
    judged_value,
    wanted_variants,
)
from memflow.benchmarks.memorybench.tasks.catalog import QUALITY
from memflow.records import Probe


def metric_keys(probe: Probe, context: ScoringContext) -> list[MetricKey]:
    return [(QUALITY, variant) for variant in wanted_variants(context)]


async def compute(answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
    return ComputedValues()


async def judge(
    answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
) -> Sequence[MetricValue]:
    return list(
        await asyncio.gather(*(_score(answered, context, variant) for variant in wanted_variants(context)))
    )


async def _score(answered: AnsweredProbe, context: ScoringContext, variant: str) -> MetricValue:
    probe = answered.probe
    question = full_question(probe) if variant == PUBLISHED else probe.question
    answer = await ask_judge(context, "quality", {"question": question, "answer": answered.answer})
    return judged_value(QUALITY, answer, lambda scored: scored.score, variant)


def prompts(published: bool) -> list[str]:
    return ["quality"]


def required_backends(metric: str) -> frozenset[str]:
    return frozenset()
