"""One score from 1 to 10 into which a judge merges several measures (A.1.2): JuDGE, IdeaBench, SciTechNews.

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
    """Return the variant: `without_X` if X is missing, `published_code_without_X` for the published one."""
    if not missing:
        return base
    without = f"without_{'_'.join(missing)}"
    return without if base == STANDARD else f"{base}_{without}"


def keys_with_missing(metric: str, bases: Sequence[str], missing: Sequence[str]) -> list[MetricKey]:
    """Return the keys of a metric whose backends can be missing.

    The key `standard` is always included, without a value if a backend is missing.
    """
    named = [variant_name(base, missing) for base in bases]
    return [(metric, each) for each in dict.fromkeys([STANDARD, *named])]


def missing_backend_values(metric: str, missing: Sequence[str]) -> list[MetricValue]:
    """Return the empty `standard` value with the reason if a backend is missing, otherwise an empty list."""
    if not missing:
        return []
    reason = f"there is no {' and no '.join(missing)}; see the variant {variant_name(STANDARD, missing)}"
    return [MetricValue(metric, None, reason)]


def format_value(marked: MetricValue | None) -> str:
    """Format a value for the judge's prompt."""
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
