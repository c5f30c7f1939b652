"""SciTechNews: similarity to the published summary and readability, merged by a judge (A.1.1, A.1.2)."""

from collections.abc import Sequence

from memflow.benchmarks.memorybench.scorers.merged import MergedScorer
from memflow.benchmarks.memorybench.scorers.scorer import (
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    ScoringContext,
    variant_name,
)
from memflow.benchmarks.memorybench.tasks.catalog import INTEGRATED, ROUGE_L
from memflow.benchmarks.verdicts import MetricValue
from memflow.metrics.backends import CMUDICT, ENCODER_EN
from memflow.metrics.bertscore import BERTSCORE, bertscores, metric_name
from memflow.metrics.readability import CLI, DCRS, FKGL, coleman_liau, dale_chall, flesch_kincaid
from memflow.metrics.text import rouge_l
from memflow.records import Probe
from memflow.scoring.judges import STANDARD


class ArticleScorer(MergedScorer):
    """The scorer of SciTechNews, which compares a generated article with the published summary."""

    merge_stem = "merge_article"
    stems = ("merge_article",)
    judged = frozenset({INTEGRATED})
    backends = frozenset({ENCODER_EN, CMUDICT})

    def missing(self, context: ScoringContext) -> list[str]:
        there = {BERTSCORE: "en" in context.backends.encoders, FKGL: context.backends.syllables is not None}
        return [name for name, given in there.items() if not given]

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        names = (ROUGE_L, metric_name(context.backends.encoders.get("en")), CLI, FKGL, DCRS)
        merged = self.keys_with_missing(INTEGRATED, [STANDARD], context)
        return [*merged, *((name, STANDARD) for name in names)]

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
        values = [MetricValue(name, *score) for name, score in scores.items()]
        return ComputedValues([MetricValue(ROUGE_L, rouge_l(answer, gold)), *values])

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        texts = {
            "source": answered.probe.question,
            "answer": answered.answer,
            "gold": answered.gold("pr_summary"),
        }
        variant = variant_name(STANDARD, self.missing(context))
        return [await self.merge(context, texts, computed.values, variant)]
