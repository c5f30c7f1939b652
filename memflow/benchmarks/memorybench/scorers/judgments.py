"""JuDGE: comparison of a judgment with that of the court by ten measures, merged by a judge (A.1.1, A.1.2).

`published_code` parses documents as the published code does (metrics/legal) and, like that code, shows the judge the
value of the prison term for every measure.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from memflow.benchmarks.memorybench.scorers.merged import MergedScorer
from memflow.benchmarks.memorybench.scorers.scorer import (
    PUBLISHED,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    ScoringContext,
    variant_name,
    wanted_variants,
)
from memflow.benchmarks.memorybench.tasks.catalog import INTEGRATED, METEOR
from memflow.benchmarks.verdicts import MetricValue
from memflow.metrics.backends import ENCODER_ZH
from memflow.metrics.bertscore import BERTSCORE, bertscores, metric_name
from memflow.metrics.legal.measures import comparable_passages, judgment_scores
from memflow.metrics.meteor import meteor
from memflow.metrics.result import MetricResult
from memflow.records import Probe
from memflow.scoring.judges import STANDARD

SECTIONS = ("reasoning", "judgment")
MEASURES = ("charge_recall", "charge_precision", "statute_recall", "statute_precision", "time", "fine")


class JudgmentScorer(MergedScorer):
    """The scorer of JuDGE, which compares a generated judgment with the judgment of the court."""

    merge_stem = "merge_judgment"
    stems = ("merge_judgment",)
    judged = frozenset({INTEGRATED})
    backends = frozenset({ENCODER_ZH})

    def missing(self, context: ScoringContext) -> list[str]:
        return [] if "zh" in context.backends.encoders else [BERTSCORE]

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        named = (METEOR, metric_name(context.backends.encoders.get("zh")))
        measured = [*(f"{section}_{name}" for name in named for section in SECTIONS), *MEASURES]
        return [
            *self.keys_with_missing(INTEGRATED, [STANDARD], context),
            *([(INTEGRATED, PUBLISHED)] if context.published else []),
            *((name, base) for base in wanted_variants(context) for name in measured),
        ]

    async def compute(self, answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
        values = [await _measured(answered, context, base) for base in wanted_variants(context)]
        return ComputedValues([value for of_base in values for value in of_base])

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        texts = {"facts": answered.probe.question, "answer": answered.answer, "gold": answered.probe.gold}
        standard, published = (
            [value for value in computed.values if value.variant == base] for base in (STANDARD, PUBLISHED)
        )
        variant = variant_name(STANDARD, self.missing(context))
        merged = [await self.merge(context, texts, standard, variant)]
        if context.published:
            term = next(value for value in published if value.metric == "time")
            if term.value is None:
                reason = f"time, which is all that is shown, has none: {term.reason}"
                merged.append(MetricValue(INTEGRATED, None, reason, PUBLISHED))
            else:
                everywhere = [replace(value, value=term.value) for value in published]
                merged.append(await self.merge(context, texts, everywhere, PUBLISHED))
        return merged


async def _measured(answered: AnsweredProbe, context: ScoringContext, base: str) -> list[MetricValue]:
    answer, gold, encoder = answered.answer, answered.probe.gold, context.backends.encoders.get("zh")
    reading: Literal["standard", "published_code"] = "standard" if base == STANDARD else "published_code"
    values = []
    for section, texts in comparable_passages(answer, gold, reading).items():
        if isinstance(texts, MetricResult):
            words = meaning = texts
        else:
            words = MetricResult(meteor(*texts, "zh", reading))
            [meaning] = await bertscores(encoder, [texts], "zh")
        for name, score in ((METEOR, words), (metric_name(encoder), meaning)):
            values.append(MetricValue(f"{section}_{name}", score.value, score.reason, base))
    found = judgment_scores(answer, gold, reading)
    return [*values, *(MetricValue(name, *found[name], base) for name in MEASURES)]
