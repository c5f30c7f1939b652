"""Computation of one score from 1 to 10 from several measures by a judge (A.1.2), for JuDGE, IdeaBench and SciTechNews.

The judge sees the texts and all values. If a backend is missing, the variant contains its name (`without_bertscore`).
If the judge failed on a measure, no merged score is computed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.memorybench.scorers.scorer import (
    STANDARD,
    MetricKey,
    MetricValue,
    ScoringContext,
    ask_judge,
    judged_value,
)
from memflow.benchmarks.memorybench.tasks.catalog import INTEGRATED

NOT_MEASURED = "not measured"


def variant_name(base: str, missing: Sequence[str]) -> str:
    """Return the name of a score variant, such as `without_bertscore` if the backend BERTScore is missing."""
    if not missing:
        return base
    without = f"without_{'_'.join(missing)}"
    return without if base == STANDARD else f"{base}_{without}"


def keys_with_missing(metric: str, bases: Sequence[str], missing: Sequence[str]) -> list[MetricKey]:
    """Return (metric, variant) for each variant of a metric. The variant `standard` is always included.

    If a backend in `missing` is unavailable, `standard` has no value.
    """
    named = [variant_name(base, missing) for base in bases]
    return [(metric, fromkey) for fromkey in dict.fromkeys([STANDARD, *named])]


def missing_backend_values(metric: str, missing: Sequence[str]) -> list[MetricValue]:
    """Return the variant `standard` with a reason instead of a value if a backend is missing, otherwise nothing."""
    if not missing:
        return []
    reason = f"there is no {' and no '.join(missing)}; see the variant {variant_name(STANDARD, missing)}"
    return [MetricValue(metric, None, reason)]


def format_value(marked: MetricValue | None) -> str:
    """Return a metric value as text for the judge's prompt."""
    return NOT_MEASURED if marked is None or marked.value is None else f"{marked.value:.2f}"


async def merge(
    context: ScoringContext,
    stem: str,
    fields: Mapping[str, Any],
    variant_name: str,
    failed: Sequence[MetricValue] = (),
) -> MetricValue:
    """Return the merged score. `fields` fill the prompt; `failed` lists the measures on which the judge failed."""
    if failed:
        reasons = "; ".join(f"{each.metric}: {each.reason}" for each in failed)
        return MetricValue(INTEGRATED, None, f"not merged, for want of a measure: {reasons}", variant_name)
    return judged_value(
        INTEGRATED, await ask_judge(context, stem, fields), lambda merged: merged.score, variant_name
    )
