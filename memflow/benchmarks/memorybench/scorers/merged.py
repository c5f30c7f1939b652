"""Several measures merged by a judge into one score from 1 to 10 (A.1.2): JuDGE, IdeaBench, SciTechNews.

The judge sees the texts and every measure's value. What could not be measured of a reply is said to be so. Where
measures have no value for want of an instrument, whatever the reply, the score is another one, and its variant names
what it lacks: `without_bertscore`. Where the judge failed to give a measure, nothing is merged.
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
    """The variant's name: `without_X` for what is lacking; `published_code_without_X` beside the published."""
    if not missing:
        return base
    without = f"without_{'_'.join(missing)}"
    return without if base == STANDARD else f"{base}_{without}"


def keys_with_missing(metric: str, bases: Sequence[str], missing: Sequence[str]) -> list[MetricKey]:
    """The rows of a metric that needs what may be lacking: `standard` always, without value where something is."""
    named = [variant_name(base, missing) for base in bases]
    return [(metric, each) for each in dict.fromkeys([STANDARD, *named])]


def missing_backend_values(metric: str, missing: Sequence[str]) -> list[MetricValue]:
    """The `standard` mark of a metric that needs what is lacking; none where nothing is."""
    if not missing:
        return []
    reason = f"there is no {' and no '.join(missing)}; see the variant {variant_name(STANDARD, missing)}"
    return [MetricValue(metric, None, reason)]


def format_value(marked: MetricValue | None) -> str:
    """A measure as the judge is told it."""
    return NOT_MEASURED if marked is None or marked.value is None else f"{marked.value:.2f}"


async def merge(
    context: ScoringContext,
    stem: str,
    fields: Mapping[str, Any],
    variant_name: str,
    failed: Sequence[MetricValue] = (),
) -> MetricValue:
    """The merged score. `fields` are all that the prompt shows; `failed` are measures that the judge failed to give."""
    if failed:
        reasons = "; ".join(f"{each.metric}: {each.reason}" for each in failed)
        return MetricValue(INTEGRATED, None, f"not merged, for want of a measure: {reasons}", variant_name)
    return judged_value(
        INTEGRATED, await ask_judge(context, stem, fields), lambda merged: merged.score, variant_name
    )
