"""Plans of what is asked of a preference that nobody states: what a user likes is told, item by item.

`highlevel`: items of one category are liked one after the other, each joined to the one before it. `highlevel_rec`: so
are they in a session each, among items of three other categories that are not liked; the user states it, or asks and
takes or rejects what is recommended; the first is always liked (paper, section 3.1 and appendix A.4). Either way the
question asks for the category, which nobody says.
It asks for the topic that was spoken of: the published code asks for a movie wherever something was recommended.
"""

from collections.abc import Mapping
from itertools import pairwise

from memflow.benchmarks.membench.generation.emotion_plans import emotion
from memflow.benchmarks.membench.generation.liked_items import (
    about,
    drawn,
    liked_category,
    other_categories,
    telling,
)
from memflow.benchmarks.membench.generation.plans import Beat, Plan, Planner, Query, Talk, Task
from memflow.benchmarks.membench.generation.templates import fill_any
from memflow.benchmarks.membench.kinds import EMOTION

STATED = 0.3
"""How probably a user says unasked what they think of an item, as in the published code."""


def highlevel(task: Task) -> Plan:
    """Items that are liked in a chain, in one session; or a mood. Raises BadInput where the map has too few."""
    if task.scenario == EMOTION:
        return emotion(task)
    words, items = about(task, task.scenario), _liked(task)
    told = [fill_any(words.liked, task.chance, item=items[0])]
    told += [fill_any(words.liked_too, task.chance, before=one, item=item) for one, item in pairwise(items)]
    beats = [
        Beat(sentence, keeps=(item,), exposes=_exposed(task, item))
        for item, sentence in zip(items, told, strict=True)
    ]
    category = liked_category(task, task.scenario)
    talk = Talk(words.plural, tuple(beats), fillers=tuple(_fillers(task) for _ in beats), avoids=(category,))
    evidence = tuple((0, at) for at in range(len(beats)))
    return task.plan((talk,), _asked(task, evidence, other_categories(task, task.scenario)))


def highlevel_rec(task: Task) -> Plan:
    """Items that are liked and not liked, a session each. Raises BadInput where the map has too few."""
    others = other_categories(task, task.scenario)
    liked = _liked(task)
    disliked = [_disliked(task, category) for category in others]
    later = [*liked[1:], *disliked]
    order = [liked[0], *task.chance.sample(later, len(later))]
    talks = tuple(_judged(task, item, item in liked) for item in order)
    evidence = tuple((at, len(talks[at].beats) - 1) for at, item in enumerate(order) if item in liked)
    return task.plan(talks, _asked(task, evidence, others))


def _liked(task: Task) -> list[str]:
    category = liked_category(task, task.scenario)
    silent = telling(task, task.scenario, category)
    return drawn(task, task.scenario, category, task.parameters.items, besides=silent)[0]


def _disliked(task: Task, category: str) -> str:
    """An item of a category, which tells neither its own nor the one that is liked."""
    silent = telling(task, task.scenario, category, liked_category(task, task.scenario))
    return drawn(task, task.scenario, category, (1, 1), besides=silent)[0][0]


def _judged(task: Task, item: str, liked: bool) -> Talk:
    """A session about one item: the user states what they think of it, or says so when it is recommended."""
    words, chance = about(task, task.scenario), task.chance
    exposes = _exposed(task, item) if liked else None
    if chance.random() < STATED:
        stated = fill_any(words.liked if liked else words.disliked, chance, item=item)
        beats = [Beat(stated, keeps=(item,), exposes=exposes)]
    else:
        wanted, offered = fill_any(words.wanted, chance), fill_any(words.recommended, chance, item=item)
        answered = fill_any(words.accepted if liked else words.rejected, chance, item=item)
        beats = [Beat(wanted, offered, keeps=(item,)), Beat(answered, keeps=(item,), exposes=exposes)]
    fillers = (*(0 for _ in beats[1:]), _fillers(task))
    avoids = (liked_category(task, task.scenario),)
    return Talk(words.plural, tuple(beats), fillers=fillers, avoids=avoids)


def _exposed(task: Task, item: str) -> dict[str, str]:
    category = liked_category(task, task.scenario)
    return {"entity": task.scenario, "attribute": "liked", "value": item, "category": category}


def _fillers(task: Task) -> int:
    """How much talk follows an item; where nobody answers, it may be as little as a message."""
    least, most = task.parameters.fillers
    return task.chance.randint(1 if task.scene == "observation" else least, most)


def _asked(task: Task, evidence: tuple[tuple[int, int], ...], others: list[str]) -> Query:
    words = about(task, task.scenario)
    return Query(
        question=words.preference,
        answer=liked_category(task, task.scenario),
        evidence=evidence,
        wrong=tuple(others),
        keeps=(words.plural,),
    )


PLANNERS: Mapping[str, Planner] = {"highlevel": highlevel, "highlevel_rec": highlevel_rec}
"""What draws up the plans of these kinds."""
