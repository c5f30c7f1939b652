"""LimitGen: is the limitation that was planted in a paper among the first three of a reply (A.1.1)?

Each limitation of the reply goes three steps, and no further than it holds: a judge says whether it is of the planted
one's aspect, then of which kind, and where that is the planted kind, from 0 to 5 how well it tells the planted one.
`accuracy` is whether any got that far; `rating`, the task's own metric, is the best score, 0 where none got that far.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import yaml

from memflow.benchmarks.memorybench.scorers.listed import listed
from memflow.benchmarks.memorybench.scorers.metric import (
    PACKAGE,
    STANDARD,
    Answered,
    Computed,
    Mark,
    Means,
    Row,
    ask_judge,
)
from memflow.benchmarks.memorybench.tasks.catalogue import ACCURACY, RATING
from memflow.benchmarks.memorybench.tasks.limitgen import ASPECTS
from memflow.errors import BadInput
from memflow.records import Probe

MOST = 3
BEST = 5
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Aspect:
    """Of what a paper's limitations may be. `kinds` say what each kind is, by its name."""

    name: str
    description: str
    kinds: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Step:
    """How far a limitation came: its score where it is of the planted kind, else None, or why that is not known."""

    score: int | None = None
    reason: str | None = None


def rows(probe: Probe, means: Means) -> list[Row]:
    return [(RATING, STANDARD), (ACCURACY, STANDARD)]


async def computed(answered: Answered, means: Means) -> Computed:
    return Computed()


async def judge(answered: Answered, means: Means, computed: Computed) -> Sequence[Mark]:
    category, truth = answered.gold("category"), answered.gold("ground_truth")
    aspect = aspect_of(category)
    steps = await asyncio.gather(
        *(_judge(said, aspect, category, truth, means) for said in limitations(answered.answer))
    )
    scores = [step.score for step in steps if step.score is not None]
    unknown = "; ".join(dict.fromkeys(step.reason for step in steps if step.reason)) or None
    best = max(scores, default=0)
    rating = Mark(RATING, best) if best == BEST or not unknown else Mark(RATING, None, unknown)
    found = Mark(ACCURACY, float(bool(scores))) if scores or not unknown else Mark(ACCURACY, None, unknown)
    return [rating, found]


async def _judge(said: str, aspect: Aspect, category: str, truth: str, means: Means) -> Step:
    about = {"aspect": aspect.name, "limitation": said}
    belongs = await ask_judge(means, "limitation_aspect", {**about, "description": aspect.description})
    if belongs.value is None or not belongs.value.belongs:
        return Step(reason=belongs.reason)
    told = "\n".join(f"{number}. {says}" for number, says in enumerate(aspect.kinds.values(), start=1))
    kind = await ask_judge(means, "limitation_kind", {**about, "kinds": told})
    if kind.value is None or kind.value.number != list(aspect.kinds).index(category) + 1:
        return Step(reason=kind.reason)
    scored = await ask_judge(means, "limitation_score", {"limitation": said, "truth": truth})
    return Step(None if scored.value is None else scored.value.score, scored.reason)


def prompts(published: bool) -> list[str]:
    return ["limitation_aspect", "limitation_kind", "limitation_score"]


def needs(metric: str) -> frozenset[str]:
    return frozenset()


def limitations(answer: str) -> list[str]:
    """The first three limitations of a reply: of its JSON, or else of its list, or else the whole reply as one."""
    return [one for one in (listed(answer, "limitations") or _of_list(answer) or [answer.strip()]) if one][
        :MOST
    ]


def _of_list(answer: str) -> list[str]:
    items: list[list[str]] = []
    for line in answer.splitlines():
        if _BULLET.match(line):
            items.append([_BULLET.sub("", line)])
        elif items and line.strip():
            items[-1].append(line.strip())
    return [" ".join(item) for item in items]


def aspect_of(category: str) -> Aspect:
    """The aspect of a kind of limitation. Raises BadInput for a kind that there is not."""
    if category not in ASPECTS:
        raise BadInput(f"LimitGen has no kind of limitation {category!r}; it has {', '.join(ASPECTS)}")
    return _aspects()[ASPECTS[category]]


@lru_cache(maxsize=1)
def _aspects() -> Mapping[str, Aspect]:
    text = files(PACKAGE).joinpath("limitations.yaml").read_text(encoding="utf-8")
    return {
        name: Aspect(name, each["description"], each["kinds"]) for name, each in yaml.safe_load(text).items()
    }
