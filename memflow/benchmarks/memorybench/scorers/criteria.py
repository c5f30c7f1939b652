"""WritingBench: a judge scores an answer from 1 to 10 by the criteria written for its question (A.1.1).

`standard` asks for one criterion at a time and takes the mean, as WritingBench itself does; `published_code`, which is
MemoryBench's, shows all of them at once and asks for one score.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.memorybench.scorers.metric import (
    PUBLISHED,
    STANDARD,
    Answered,
    Computed,
    Mark,
    Means,
    Row,
    ask_judge,
    digest_of,
    mark,
    variants,
)
from memflow.benchmarks.memorybench.tasks.catalogue import CRITERIA
from memflow.records import Probe


def rows(probe: Probe, means: Means) -> list[Row]:
    return [(CRITERIA, variant) for variant in variants(means)]


async def computed(answered: Answered, means: Means) -> Computed:
    return Computed()


async def judge(answered: Answered, means: Means, computed: Computed) -> Sequence[Mark]:
    ways = {STANDARD: _one_by_one, PUBLISHED: _at_once}
    return list(await asyncio.gather(*(ways[variant](answered, means) for variant in variants(means))))


async def _one_by_one(answered: Answered, means: Means) -> Mark:
    criteria = answered.gold("criteria")
    answers = await asyncio.gather(
        *(ask_judge(means, "criterion", _fields(answered, [each])) for each in criteria)
    )
    failed = [
        f"{each['name']}: {answer.reason}"
        for each, answer in zip(criteria, answers, strict=True)
        if answer.value is None
    ]
    if failed:
        return Mark(CRITERIA, None, "; ".join(failed))
    scores = [answer.value.score for answer in answers if answer.value is not None]
    one = digest_of(answers[0]) if len(answers) == 1 else None
    return Mark(CRITERIA, sum(scores) / len(scores), completion=one)


async def _at_once(answered: Answered, means: Means) -> Mark:
    answer = await ask_judge(means, "criteria", _fields(answered, answered.gold("criteria")))
    return mark(CRITERIA, answer, lambda graded: graded.score, PUBLISHED)


def _fields(answered: Answered, criteria: Sequence[Mapping[str, Any]]) -> dict[str, str]:
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


def needs(metric: str) -> frozenset[str]:
    return frozenset()
