"""What is computed of an answer's words beside the gold's: LoCoMo's F1, LexEval's ROUGE-L, WritingPrompts' METEOR
(A.1.1). Nobody is asked.
"""

from collections.abc import Callable, Mapping, Sequence

from memflow.benchmarks.memorybench.scores.metric import STANDARD, Answered, Mark, Means, Row
from memflow.benchmarks.memorybench.tasks.catalogue import LOCOMO_F1, ROUGE_L
from memflow.metrics.text import locomo_f1, rouge_l
from memflow.records import Probe


def rows(probe: Probe, means: Means) -> list[Row]:
    return [(probe.metric, STANDARD)]


async def computed(answered: Answered, means: Means) -> list[Mark]:
    return [Mark(answered.probe.metric, _METRICS[answered.probe.metric](answered.probe, answered.answer))]


async def judged(answered: Answered, means: Means, computed: Sequence[Mark]) -> list[Mark]:
    return []


def prompts(published: bool) -> list[str]:
    return []


def _locomo(probe: Probe, answer: str) -> float:
    return locomo_f1(answer, probe.gold, probe.category or "")


def _rouge(probe: Probe, answer: str) -> float:
    return rouge_l(answer, probe.gold, "zh" if probe.language == "zh" else "en")


_METRICS: Mapping[str, Callable[[Probe, str], float]] = {LOCOMO_F1: _locomo, ROUGE_L: _rouge}
