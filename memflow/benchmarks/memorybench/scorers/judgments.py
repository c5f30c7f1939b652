"""JuDGE: comparison of a judgment with that of the court by ten measures, merged by a judge (A.1.1, A.1.2).

`published_code` parses documents as the published code does (metrics/legal) and, like that code, shows the judge the
value of the prison term for every measure.
"""

from collections.abc import Sequence
from typing import Literal

from memflow.benchmarks.memorybench.scorers.merged import (
    format_value,
    keys_with_missing,
    merge,
    missing_backend_values,
    variant_name,
)
from memflow.benchmarks.memorybench.scorers.scorer import (
    PUBLISHED,
    STANDARD,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    MetricValue,
    Scorer,
    ScoringContext,
    wanted_variants,
)
from memflow.benchmarks.memorybench.tasks.catalog import INTEGRATED, METEOR
from memflow.metrics.backends import ENCODER_ZH
from memflow.metrics.bertscore import BERTSCORE, bertscores, metric_name
from memflow.metrics.legal.measures import comparable_passages, judgment_scores
from memflow.metrics.meteor import meteor
from memflow.metrics.result import MetricResult
from memflow.records import Probe

SECTIONS = ("reasoning", "judgment")
MEASURES = ("charge_recall", "charge_precision", "statute_recall", "statute_precision", "time", "fine")
_READINGS: dict[str, Literal["standard", "published_code"]] = {
    STANDARD: "standard",
    PUBLISHED: "published_code",
}


def _missing_backends(context: ScoringContext) -> list[str]:
    return [] if "zh" in context.backends.encoders else [BERTSCORE]


class JudgmentScorer(Scorer):
    """The scorer of JuDGE, which compares a generated judgment with the judgment of the court."""

    stems = ("merge_judgment",)
    judged = frozenset({INTEGRATED})
    backends = frozenset({ENCODER_ZH})

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        named = (METEOR, metric_name(context.backends.encoders.get("zh")))
        measured = [*(f"{section}_{name}" for name in named for section in SECTIONS), *MEASURES]
        return [
            *keys_with_missing(INTEGRATED, [STANDARD], _missing_backends(context)),
            *([(INTEGRATED, PUBLISHED)] if context.published else []),
            *((name, base) for base in wanted_variants(context) for name in measured),
        ]

    async def compute(self, answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
        return ComputedValues(
            [mark for base in wanted_variants(context) for mark in await _measured(answered, context, base)]
        )

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        missing = _missing_backends(context)
        told = {base: _formatted_values(computed.values, base) for base in wanted_variants(context)}
        values = missing_backend_values(INTEGRATED, missing)
        values.append(await _merge(answered, context, told[STANDARD], variant_name(STANDARD, missing)))
        if context.published:
            term = next(mark for mark in computed.values if mark.key == ("time", PUBLISHED))
            if term.value is None:
                values.append(
                    MetricValue(
                        INTEGRATED,
                        None,
                        f"time, which is all that is shown, has none: {term.reason}",
                        PUBLISHED,
                    )
                )
            else:
                everywhere = dict.fromkeys(told[PUBLISHED], format_value(term))
                values.append(await _merge(answered, context, everywhere, PUBLISHED))
        return values


async def _measured(answered: AnsweredProbe, context: ScoringContext, base: str) -> list[MetricValue]:
    answer, gold, reading = answered.answer, answered.probe.gold, _READINGS[base]
    encoder = context.backends.encoders.get("zh")
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


async def _merge(
    answered: AnsweredProbe, context: ScoringContext, told: dict[str, str], named: str
) -> MetricValue:
    texts = {"facts": answered.probe.question, "answer": answered.answer, "gold": answered.probe.gold}
    return await merge(context, "merge_judgment", {**texts, **told}, named)


def _formatted_values(values: Sequence[MetricValue], base: str) -> dict[str, str]:
    return {mark.metric.partition("[")[0]: format_value(mark) for mark in values if mark.variant == base}
