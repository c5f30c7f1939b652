"""DialSim: an answer is right where it is the right one word for word, or else where a judge finds that it says the
same (A.1.1). Users of DialSim are content by the same rule.
"""

from collections.abc import Sequence

from memflow.benchmarks.memorybench.scorers.metric import (
    STANDARD,
    Answered,
    Computed,
    Mark,
    Means,
    Row,
    ask_judge,
    mark,
)
from memflow.benchmarks.memorybench.tasks.catalogue import ACCURACY
from memflow.metrics.text import exact_match
from memflow.records import Probe


def rows(probe: Probe, means: Means) -> list[Row]:
    return [(ACCURACY, STANDARD)]


async def computed(answered: Answered, means: Means) -> Computed:
    exact = exact_match(answered.answer, answered.probe.gold)
    return Computed([Mark(ACCURACY, 1.0)] if exact else [])


async def judge(answered: Answered, means: Means, computed: Computed) -> Sequence[Mark]:
    if computed.marks:
        return []
    probe = answered.probe
    fields = {"question": probe.question, "gold": probe.gold, "answer": answered.answer}
    answer = await ask_judge(means, "dialsim_judge", fields)
    return [mark(ACCURACY, answer, lambda judged: judged.correct)]


async def accurate(probe: Probe, answer: str, means: Means) -> Mark:
    """1.0 or 0.0, or no value and the reason."""
    answered = Answered(probe, answer)
    found = await computed(answered, means)
    return (found.marks or await judge(answered, means, found))[0]


def prompts(published: bool) -> list[str]:
    return ["dialsim_judge"]


def needs(metric: str) -> frozenset[str]:
    return frozenset()
