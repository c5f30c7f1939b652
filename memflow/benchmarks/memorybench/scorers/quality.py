"""NF-Cats: a judge says from 1 to 5 how far an answer solves its question; there is no gold (A.1.1, after NTCIR-18).

`standard` shows the judge the question as it was published; `published_code` shows it with the words that were put
around it for the assistant. That code also takes 6 to 10 for a score, and 1 where it finds none: here neither is one.
"""

import asyncio
from collections.abc import Sequence

from memflow.benchmarks.memorybench.question import whole
from memflow.benchmarks.memorybench.scorers.metric import (
    PUBLISHED,
    Answered,
    Computed,
    Mark,
    Means,
    Row,
    ask_judge,
    mark,
    variants,
)
from memflow.benchmarks.memorybench.tasks.catalogue import QUALITY
from memflow.records import Probe


def rows(probe: Probe, means: Means) -> list[Row]:
    return [(QUALITY, variant) for variant in variants(means)]


async def computed(answered: Answered, means: Means) -> Computed:
    return Computed()


async def judge(answered: Answered, means: Means, computed: Computed) -> Sequence[Mark]:
    return list(await asyncio.gather(*(_score(answered, means, variant) for variant in variants(means))))


async def _score(answered: Answered, means: Means, variant: str) -> Mark:
    probe = answered.probe
    question = whole(probe) if variant == PUBLISHED else probe.question
    answer = await ask_judge(means, "quality", {"question": question, "answer": answered.answer})
    return mark(QUALITY, answer, lambda scored: scored.score, variant)


def prompts(published: bool) -> list[str]:
    return ["quality"]


def needs(metric: str) -> frozenset[str]:
    return frozenset()
