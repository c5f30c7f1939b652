"""LoCoMo's F1, LexEval's ROUGE-L and WritingPrompts' METEOR, computed from the words of answer and gold (A.1.1).

`published_code` is LexEval's incorrect ROUGE-L, and METEOR with synonyms of stems. Without WordNet, METEOR has no value
and `meteor_nowordnet` is added.
"""

from typing import Literal

from memflow.benchmarks.memorybench.scorers.scorer import (
    PUBLISHED,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    Scorer,
    ScoringContext,
)
from memflow.benchmarks.memorybench.tasks.catalog import LOCOMO_F1, METEOR, ROUGE_L
from memflow.benchmarks.verdicts import MetricValue
from memflow.metrics.backends import WORDNET
from memflow.metrics.meteor import METEOR_NOWORDNET, meteor, metric_name
from memflow.metrics.text import locomo_f1, rouge_l
from memflow.records import Probe
from memflow.scoring.judges import STANDARD

NO_SYNONYMS = "WordNet is missing; set `wordnet` in memflow.toml, or use meteor_nowordnet"


class WordOverlapScorer(Scorer):
    """The scorer for F1, ROUGE-L and METEOR. The metric of the probe selects one of the three."""

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        """Return the metric keys. `published_code` exists for Chinese ROUGE-L, and for METEOR with WordNet."""
        name = probe.metric
        if name == METEOR and (used := metric_name(language_of(probe), context.backends.synonyms)) != METEOR:
            return [(METEOR, STANDARD), (used, STANDARD)]
        has_error = name == METEOR or (name == ROUGE_L and probe.language == "zh")
        return [(name, STANDARD), *([(name, PUBLISHED)] if context.published and has_error else [])]

    async def compute(self, answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
        keys = self.metric_keys(answered.probe, context)
        values = []
        if (METEOR_NOWORDNET, STANDARD) in keys:
            values.append(MetricValue(METEOR, None, NO_SYNONYMS))
            keys = keys[1:]
        for name, variant in keys:
            values.append(MetricValue(name, _value(name, variant, answered, context), variant=variant))
        return ComputedValues(values)

    def required_backends(self, metric: str) -> frozenset[str]:
        return frozenset({WORDNET} if metric == METEOR else ())


def language_of(probe: Probe) -> Literal["en", "zh"]:
    return "zh" if probe.language == "zh" else "en"


def _value(name: str, variant: str, answered: AnsweredProbe, context: ScoringContext) -> float:
    answer, gold, language = answered.answer, answered.probe.gold, language_of(answered.probe)
    reading: Literal["standard", "published_code"] = "standard" if variant == STANDARD else "published_code"
    if name == LOCOMO_F1:
        return locomo_f1(answer, gold, answered.probe.category or "")
    if name == ROUGE_L:
        return rouge_l(answer, gold, language, reading)
    return meteor(answer, gold, language, reading, context.backends.synonyms)
