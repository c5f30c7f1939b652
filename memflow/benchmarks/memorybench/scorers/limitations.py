"""The scorer of LimitGen: whether one of the first three limitations in a reply is the planted limitation (A.1.1).

For each limitation, a judge compares the aspect and then the kind. If both are the planted ones, the judge gives a
score from 0 to 5. `accuracy` is 1 if both match for any limitation. `rating`, the main metric, is the best score, or 0.
"""

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple

from memflow.benchmarks.memorybench.scorers.scorer import (
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    Scorer,
    ScoringContext,
    ask_judge,
    parse_list_reply,
)
from memflow.benchmarks.memorybench.tasks.catalog import ACCURACY, RATING
from memflow.benchmarks.memorybench.tasks.limitgen import ASPECTS, LIMITATIONS
from memflow.benchmarks.verdicts import MetricValue
from memflow.records import Probe
from memflow.scoring.judges import STANDARD

MAX_LIMITATIONS = 3
MAX_SCORE = 5
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d+[.)])\s+")


class LimitationResult(NamedTuple):
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
        steps = await asyncio.gather(
            *(_judge(said, category, truth, context) for said in limitations(answered.answer))
        )
        scores = [step.score for step in steps if step.score is not None]
        unknown = "; ".join(dict.fromkeys(step.reason for step in steps if step.reason)) or None
        best = max(scores, default=0)
        rated, decided = best == MAX_SCORE or not unknown, scores or not unknown
        return [
            MetricValue(RATING, best) if rated else MetricValue(RATING, None, unknown),
            MetricValue(ACCURACY, float(bool(scores))) if decided else MetricValue(ACCURACY, None, unknown),
        ]


async def _judge(said: str, category: str, truth: str, context: ScoringContext) -> LimitationResult:
    aspect = ASPECTS[category]
    description, kinds = LIMITATIONS[aspect]["description"], LIMITATIONS[aspect]["kinds"]
    about = {"aspect": aspect, "limitation": said}
    belongs = await ask_judge(context, "limitation_aspect", {**about, "description": description})
    if belongs.value is None or not belongs.value.belongs:
        return LimitationResult(reason=belongs.reason)
    told = "\n".join(f"{number}. {says}" for number, says in enumerate(kinds.values(), start=1))
    kind = await ask_judge(context, "limitation_kind", {**about, "kinds": told})
    if kind.value is None or kind.value.number != list(kinds).index(category) + 1:
        return LimitationResult(reason=kind.reason)
    scored = await ask_judge(context, "limitation_score", {"limitation": said, "truth": truth})
    return LimitationResult(None if scored.value is None else scored.value.score, scored.reason)


def limitations(answer: str) -> list[str]:
    """Return the first three limitations of a reply, from its JSON or list; without both, the whole reply."""
    found = parse_list_reply(answer, "limitations") or _of_list(answer) or [answer.strip()]
    return [limitation for limitation in found if limitation][:MAX_LIMITATIONS]


def _of_list(answer: str) -> list[str]:
    items: list[list[str]] = []
    for line in answer.splitlines():
        if _BULLET.match(line):
            items.append([_BULLET.sub("", line)])
        elif items and line.strip():
            items[-1].append(line.strip())
    return [" ".join(item) for item in items]
