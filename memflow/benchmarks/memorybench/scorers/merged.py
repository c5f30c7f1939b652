"""Computation of one score from 1 to 10 from several measures by a judge (A.1.2), for JuDGE, IdeaBench and SciTechNews.

The judge sees the texts and all values. If a backend is missing, the variant contains its name (`without_bertscore`).
If the judge failed on a measure, no merged score is computed.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from memflow.benchmarks.memorybench.scorers.scorer import (
    MetricKey,
    Scorer,
    ScoringContext,
    ask_judge,
    judged_value,
    variant_name,
)
from memflow.benchmarks.memorybench.tasks.catalog import INTEGRATED
from memflow.benchmarks.verdicts import MetricValue
from memflow.scoring.judges import STANDARD

NOT_MEASURED = "not measured"


class MergedScorer(Scorer):
    """The base class of scorers with a merged score."""

    merge_stem: ClassVar[str]
    """The prompt by which the judge merges the measures."""

    def keys_with_missing(
        self, metric: str, bases: Sequence[str], context: ScoringContext
    ) -> list[MetricKey]:
        """Return (metric, variant) for each variant of a metric, and `standard` if a backend is missing, too."""
        names = [variant_name(base, self.missing(context)) for base in bases]
        return [(metric, name) for name in dict.fromkeys([STANDARD, *names])]

    async def merge(
        self, context: ScoringContext, texts: Mapping[str, Any], values: Sequence[MetricValue], variant: str
    ) -> MetricValue:
        """Return the merged score of measures. `texts` fill the prompt, together with the values."""
        failed = [value for value in values if value.value is None and value.metric in self.judged]
        if failed:
            reasons = "; ".join(f"{value.metric}: {value.reason}" for value in failed)
            return MetricValue(INTEGRATED, None, f"not merged, for want of a measure: {reasons}", variant)
        shown = {
            value.metric.partition("[")[0]: NOT_MEASURED if value.value is None else f"{value.value:.2f}"
            for value in values
        }
        answer = await ask_judge(context, self.merge_stem, {**texts, **shown})
        return judged_value(INTEGRATED, answer, lambda merged: merged.score, variant)
