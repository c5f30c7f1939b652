"""Plans of what is asked of a preference that nobody states: what a user likes is told, item by item.

`highlevel`: items of one category are liked one after the other, each joined to the one before it. `highlevel_rec`: so
are they in a session each, among items of three other categories that are not liked; the user states it, or asks and
takes or rejects what is recommended; the first is always liked (paper, section 3.1 and appendix A.4). Either way the
question asks for the category, which nobody says. It asks for the sort of thing that was spoken of: the published code
asks for a movie wherever something was recommended.
"""

from itertools import pairwise

from memflow.benchmarks.membench.generation.likings import (
    items_of,
    liked_category,
    other_categories,
    some_items,
)
from memflow.benchmarks.membench.generation.planning import Task
from memflow.benchmarks.membench.generation.plans import Beat, Plan, Query, Talk
from memflow.benchmarks.membench.generation.sayings import sayings
from memflow.errors import BadInput

STATED = 0.3
"""How probably a user says unasked what they think of an item, as in the published code."""


def highlevel(task: Task) -> Plan:
    """Items that are liked in a chain, in one session. Raises BadInput where the map does not have them."""
    words, chance = sayings(task.parameters.language, task.scenario), task.chance
    items, _ = some_items(task, task.scenario, task.parameters.items)
    told = [chance.choice(words.liked).format(item=items[0])]
    told += [chance.choice(words.liked_too).format(before=one, item=item) for one, item in pairwise(items)]
    beats = [
        Beat(sentence, keeps=(item,), exposes=_liked(task, item))
        for item, sentence in zip(items, told, strict=True)
    ]
    talk = Talk(words.topic, tuple(beats), fillers=tuple(_fillers(task) for _ in beats), avoids=_unsaid(task))
    evidence = tuple((0, at) for at in range(len(beats)))
    return task.plan((talk,), _asked(task, evidence, other_categories(task, task.scenario, items)))


def highlevel_rec(task: Task) -> Plan:
    """Items that are liked and not liked, a session each. Raises BadInput where the map does not have them."""
    liked, _ = some_items(task, task.scenario, task.parameters.items)
    others = other_categories(task, task.scenario, liked)
    disliked = _disliked(task, others)
    later = [*liked[1:], *disliked]
    order = [liked[0], *task.chance.sample(later, len(later))]
    talks = tuple(_judged(task, item, item in liked) for item in order)
    evidence = tuple((at, len(talks[at].beats) - 1) for at, item in enumerate(order) if item in liked)
    return task.plan(talks, _asked(task, evidence, others))


def _disliked(task: Task, others: list[str]) -> list[str]:
    """An item of each of these categories, none of them also of the one that is liked. Raises BadInput."""
    found: list[str] = []
    liked = task.preferences[task.scenario][liked_category(task, task.scenario)]
    for category in others:
        items = items_of(task, task.scenario, category, besides={*liked, *found})
        if not items:
            raise BadInput(f"the {task.scenario} category {category!r} has no item of its own to dislike")
        found.append(items[0])
    return found


def _judged(task: Task, item: str, liked: bool) -> Talk:
    """A session about one item: the user states what they think of it, or says so when it is recommended."""
    words, chance = sayings(task.parameters.language, task.scenario), task.chance
    exposes = _liked(task, item) if liked else None
    if chance.random() < STATED:
        said = chance.choice(words.liked if liked else words.disliked).format(item=item)
        beats = [Beat(said, keeps=(item,), exposes=exposes)]
    else:
        wanted, offered = chance.choice(words.wanted), chance.choice(words.recommended).format(item=item)
        said = chance.choice(words.accepted if liked else words.rejected).format(item=item)
        beats = [Beat(wanted, offered, keeps=(item,)), Beat(said, keeps=(item,), exposes=exposes)]
    fillers = (*(0 for _ in beats[1:]), _fillers(task))
    return Talk(words.topic, tuple(beats), fillers=fillers, avoids=_unsaid(task))


def _liked(task: Task, item: str) -> dict[str, str]:
    category = liked_category(task, task.scenario)
    return {"entity": task.scenario, "attribute": "liked", "value": item, "category": category}


def _unsaid(task: Task) -> tuple[str, ...]:
    return (liked_category(task, task.scenario),)


def _fillers(task: Task) -> int:
    """How much talk follows an item; where nobody answers, it may be as little as a message."""
    least, most = task.parameters.fillers
    return task.chance.randint(1 if task.parameters.scene == "observation" else least, most)


def _asked(task: Task, evidence: tuple[tuple[int, int], ...], others: list[str]) -> Query:
    words = sayings(task.parameters.language, task.scenario)
    return Query(
        question=words.preference,
        answer=liked_category(task, task.scenario),
        evidence=evidence,
        wrong=tuple(others),
        keeps=(words.topic,),
    )
