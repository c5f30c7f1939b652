"""Which scores a scripted chat contributed to, by what their metric depends on: recall, answers, or a judge.

The metadata of an assistant's verdicts names the contributions: `scripted` (to users or answers), and the keys below.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from memflow.records import Score
from memflow.scoring.catalog import find_metric

SCRIPTED_RECALL = "scripted_recall"
"""The metadata key that states whether a scripted chat contributed to what the memory stored or recalled."""
SCRIPTED_JUDGE = "scripted_judge"
"""The metadata key that states whether a scripted chat judged replies."""


def with_scripted_column(
    scores: Iterable[Score], meta: Mapping[str, str], judged_metrics: frozenset[str] = frozenset()
) -> list[Score]:
    """Return the scores of one assistant with the column `scripted`, by the metadata of its verdicts.

    Evidence metrics depend on recall alone, so a scripted answer does not label them. `judged_metrics` depend on the
    judge, too.
    """
    is_recall_scripted = meta.get(SCRIPTED_RECALL, meta.get("scripted")) == "yes"
    is_judge_scripted = meta.get(SCRIPTED_JUDGE) == "yes"

    def is_scripted(score: Score) -> bool:
        if find_metric(score.metric).group == "evidence":
            return is_recall_scripted
        is_judged = score.metric.partition("[")[0] in judged_metrics
        return score.scripted or (is_judged and is_judge_scripted)

    return [replace(score, scripted=is_scripted(score)) for score in scores]
