"""LoCoMo's F1, LexEval's ROUGE-L and WritingPrompts' METEOR, computed from words of answer and gold (A.1.1).

`published_code` is LexEval's incorrect ROUGE-L, and METEOR with synonyms of stems. Without WordNet, METEOR has no
value and
`meteor_nowordnet` is added.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from memflow.benchmarks.memorybench.scorers.scorer import (
    PUBLISHED,
    STANDARD,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    MetricValue,
    ScoringContext,
)
from memflow.benchmarks.memorybench.tasks.catalog import LOCOMO_F1, METEOR, ROUGE_L
from memflow.metrics.backends import WORDNET
from memflow.metrics.meteor import meteor, metric_name
from memflow.metrics.text import locomo_f1, rouge_l
from memflow.records import Probe

NO_SYNONYMS = "WordNet is missing; set `wordnet` in memflow.toml, or use meteor_nowordnet"
Variant = Literal["standard", "published_code"]


def metric_keys(probe: Probe, context: ScoringContext) -> list[MetricKey]:
    """Return the keys; `published_code` exists for Chinese ROUGE-L, and for METEOR with WordNet."""
    name = probe.metric
    if name == METEOR and (used := _meteor(probe, context)) != METEOR:
        return [(METEOR, STANDARD), (used, STANDARD)]
    slips = name == METEOR or (name == ROUGE_L and probe.language == "zh")
    return [(name, STANDARD), *([(name, PUBLISHED)] if context.published and slips else [])]


async def compute(answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
    values = []
    for name, variant in metric_keys(answered.probe, context):
        if name == METEOR and _meteor(answered.probe, context) != METEOR:
            values.append(MetricValue(METEOR, None, NO_SYNONYMS))
        else:
            value = _METRICS[name](answered, context, "standard" if variant == STANDARD else "published_code")
            values.append(MetricValue(name, value, variant=variant))
    return ComputedValues(values)


async def judge(
    answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
) -> Sequence[MetricValue]:
    return []


def prompts(published: bool) -> list[str]:
    return []


def required_backends(metric: str) -> frozenset[str]:
    return frozenset({WORDNET} if metric == METEOR else ())


def language_of(probe: Probe) -> Literal["en", "zh"]:
    return "zh" if probe.language == "zh" else "en"


def _meteor(probe: Probe, context: ScoringContext) -> str:
    return metric_name(language_of(probe), context.instruments.synonyms)


def _locomo(answered: AnsweredProbe, context: ScoringContext, variant: Variant) -> float:
    return locomo_f1(answered.answer, answered.probe.gold, answered.probe.category or "")


def _rouge_l(answered: AnsweredProbe, context: ScoringContext, variant: Variant) -> float:
    return rouge_l(answered.answer, answered.probe.gold, language_of(answered.probe), variant)


def _meteor_score(answered: AnsweredProbe, context: ScoringContext, variant: Variant) -> float:
    probe, synonyms = answered.probe, context.instruments.synonyms
    return meteor(answered.answer, probe.gold, language_of(probe), variant, synonyms)


_METRICS: Mapping[str, Callable[[AnsweredProbe, ScoringContext, Variant], float]] = {
    LOCOMO_F1: _locomo,
    ROUGE_L: _rouge_l,
    METEOR: _meteor_score,
    "meteor_nowordnet": _meteor_score,
}
