"""The scorer of LimitGen: whether one of the first three limitations in a reply is the planted limitation (A.1.1).

For each limitation, a judge compares the aspect and then the kind. If both are the planted ones, the judge gives a
score from 0 to 5. `accuracy` is 1 if both match for any limitation. `rating`, the main metric, is the best score, or 0.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memflow.benchmarks.memorybench.scorers.scorer import (
    PACKAGE,
    STANDARD,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    MetricValue,
    Scorer,
    ScoringContext,
    ask_judge,
    parse_list_reply,
)
from memflow.benchmarks.memorybench.tasks.catalog import ACCURACY, RATING
from memflow.benchmarks.memorybench.tasks.limitgen import ASPECTS
from memflow.benchmarks.packaged import load_yaml
from memflow.errors import BadInput
from memflow.records import Probe

MAX_LIMITATIONS = 3
MAX_SCORE = 5
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Aspect:
    """An aspect of limitations. `kinds` maps the names of its kinds to descriptions."""

    name: str
    description: str
    kinds: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LimitationResult:
    """The score of one limitation. The score is None if the limitation is not the planted one or the judge failed."""

    score: int | None = None
    reason: str | None = None


class LimitationScorer(Scorer):
    """The scorer of LimitGen, which tests whether a reply finds the planted limitation."""

    stems = ("limitation_aspect", "limitation_kind", "limitation_score")
    judged = frozenset({RATING, ACCURACY})

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        return [(RATING, STANDARD), (ACCURACY, STANDARD)]

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        category, truth = answered.gold("category"), answered.gold("ground_truth")
        aspect = aspect_of(category)
        steps = await asyncio.gather(
            *(_judge(said, aspect, category, truth, context) for said in limitations(answered.answer))
        )
        scores = [step.score for step in steps if step.score is not None]
        unknown = "; ".join(dict.fromkeys(step.reason for step in steps if step.reason)) or None
        best = max(scores, default=0)
        rated, decided = best == MAX_SCORE or not unknown, scores or not unknown
        return [
            MetricValue(RATING, best) if rated else MetricValue(RATING, None, unknown),
            MetricValue(ACCURACY, float(bool(scores))) if decided else MetricValue(ACCURACY, None, unknown),
        ]


async def _judge(
    said: str, aspect: Aspect, category: str, truth: str, context: ScoringContext
) -> LimitationResult:
    about = {"aspect": aspect.name, "limitation": said}
    belongs = await ask_judge(context, "limitation_aspect", {**about, "description": aspect.description})
    if belongs.value is None or not belongs.value.belongs:
        return LimitationResult(reason=belongs.reason)
    told = "\n".join(f"{number}. {says}" for number, says in enumerate(aspect.kinds.values(), start=1))
    kind = await ask_judge(context, "limitation_kind", {**about, "kinds": told})
    if kind.value is None or kind.value.number != list(aspect.kinds).index(category) + 1:
        return LimitationResult(reason=kind.reason)
    scored = await ask_judge(context, "limitation_score", {"limitation": said, "truth": truth})
    return LimitationResult(None if scored.value is None else scored.value.score, scored.reason)


def limitations(answer: str) -> list[str]:
    """Return the first three limitations of a reply, from its JSON or list; without both, the whole reply."""
    return [
        one
        for one in (parse_list_reply(answer, "limitations") or _of_list(answer) or [answer.strip()])
        if one
    ][:MAX_LIMITATIONS]


def _of_list(answer: str) -> list[str]:
    items: list[list[str]] = []
    for line in answer.splitlines():
        if _BULLET.match(line):
            items.append([_BULLET.sub("", line)])
        elif items and line.strip():
            items[-1].append(line.strip())
    return [" ".join(item) for item in items]


def aspect_of(category: str) -> Aspect:
    """Return the aspect of a limitation kind. Raises BadInput for an unknown kind."""
    if category not in ASPECTS:
        raise BadInput(f"LimitGen has no limitation kind {category!r}; use one of {', '.join(ASPECTS)}")
    return _aspects()[ASPECTS[category]]


@lru_cache(maxsize=1)
def _aspects() -> Mapping[str, Aspect]:
    found = load_yaml(PACKAGE, "limitations.yaml")
    return {name: Aspect(name, each["description"], each["kinds"]) for name, each in found.items()}
