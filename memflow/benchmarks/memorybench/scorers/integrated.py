"""Several measures merged by a judge into one score from 1 to 10 (A.1.2): JuDGE, IdeaBench, SciTechNews.

The judge sees the texts and every measure's value. What could not be measured of a reply is said to be so. Where
measures have no value for want of an instrument, whatever the reply, the score is another one, and its variant names
what it lacks: `without_bertscore`. Where the judge failed to give a measure, nothing is merged.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.memorybench.scorers.metric import (
    STANDARD,
    Mark,
    Means,
    Row,
    ask_judge,
    mark,
)
from memflow.benchmarks.memorybench.tasks.catalogue import INTEGRATED

NOT_MEASURED = "not measured"


def variant(base: str, lacking: Sequence[str]) -> str:
    """The variant's name: `without_X` for what is lacking; `published_code_without_X` beside the published."""
    if not lacking:
        return base
    without = f"without_{'_'.join(lacking)}"
    return without if base == STANDARD else f"{base}_{without}"


def lacking_rows(metric: str, bases: Sequence[str], lacking: Sequence[str]) -> list[Row]:
    """The rows of a metric that needs what may be lacking: `standard` always, without value where something is."""
    named = [variant(base, lacking) for base in bases]
    return [(metric, each) for each in dict.fromkeys([STANDARD, *named])]


def lacking_mark(metric: str, lacking: Sequence[str]) -> list[Mark]:
    """The `standard` mark of a metric that needs what is lacking; none where nothing is."""
    if not lacking:
        return []
    reason = f"there is no {' and no '.join(lacking)}; see the variant {variant(STANDARD, lacking)}"
    return [Mark(metric, None, reason)]


def shown(marked: Mark | None) -> str:
    """A measure as the judge is told it."""
    return NOT_MEASURED if marked is None or marked.value is None else f"{marked.value:.2f}"


async def merge(
    means: Means,
    stem: str,
    fields: Mapping[str, Any],
    variant: str,
    failed: Sequence[Mark] = (),
) -> Mark:
    """The merged score. `fields` are all that the prompt shows; `failed` are measures that the judge failed to give."""
    if failed:
        reasons = "; ".join(f"{each.metric}: {each.reason}" for each in failed)
        return Mark(INTEGRATED, None, f"not merged, for want of a measure: {reasons}", variant)
    return mark(INTEGRATED, await ask_judge(means, stem, fields), lambda merged: merged.score, variant)
