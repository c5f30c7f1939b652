"""SciTechNews: similarity to the published summary and readability, merged by a judge (A.1.1, A.1.2)."""

from collections.abc import Sequence

from memflow.benchmarks.memorybench.scorers.merged import (
    format_value,
    keys_with_missing,
    merge,
    missing_backend_values,
    variant_name,
)
from memflow.benchmarks.memorybench.scorers.scorer import (
    STANDARD,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    MetricValue,
    Scorer,
    ScoringContext,
)
from memflow.benchmarks.memorybench.tasks.catalog import INTEGRATED, ROUGE_L
from memflow.metrics.backends import CMUDICT, ENCODER_EN
from memflow.metrics.bertscore import BERTSCORE, bertscores, metric_name
from memflow.metrics.readability import CLI, DCRS, FKGL, coleman_liau, dale_chall, flesch_kincaid
from memflow.metrics.text import rouge_l
from memflow.records import Probe


def _missing_backends(context: ScoringContext) -> list[str]:
    there = {BERTSCORE: "en" in context.backends.encoders, FKGL: context.backends.syllables is not None}
    return [name for name, given in there.items() if not given]


class ArticleScorer(Scorer):
    """The scorer of SciTechNews, which compares a generated article with the published summary."""

    stems = ("merge_article",)
    judged = frozenset({INTEGRATED})
    backends = frozenset({ENCODER_EN, CMUDICT})

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        names = (ROUGE_L, metric_name(context.backends.encoders.get("en")), CLI, FKGL, DCRS)
        return [
            *keys_with_missing(INTEGRATED, [STANDARD], _missing_backends(context)),
            *((name, STANDARD) for name in names),
        ]

    async def compute(self, answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
        answer, gold = answered.answer, answered.gold("pr_summary")
        encoder = context.backends.encoders.get("en")
        [likeness] = await bertscores(encoder, [(answer, gold)])
        scores = {
            metric_name(encoder): likeness,
            CLI: coleman_liau(answer),
            FKGL: flesch_kincaid(answer, context.backends.syllables),
            DCRS: dale_chall(answer),
        }
        return ComputedValues(
            [
                MetricValue(ROUGE_L, rouge_l(answer, gold)),
                *(MetricValue(name, *score) for name, score in scores.items()),
            ]
        )

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        missing = _missing_backends(context)
        fields = {
            "source": answered.probe.question,
            "answer": answered.answer,
            "gold": answered.gold("pr_summary"),
            **{mark.metric.partition("[")[0]: format_value(mark) for mark in computed.values},
        }
        merged = await merge(context, "merge_article", fields, variant_name(STANDARD, missing))
        return [*missing_backend_values(INTEGRATED, missing), merged]
