"""Plans of what is asked of the assistant's own words: what it recommended, in one session or in several.

In a session about one topic the user likes the first item, the assistant recommends the second, and each
further one is liked or recommended by chance (paper, appendix A.4; `recommended` of the parameters). No item is told
twice, so none is recommended again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memflow.benchmarks.membench.generation.liked_items import WRONG, about, drawn, liked_category
from memflow.benchmarks.membench.generation.plans import Beat, Plan, Planner, Query, Talk, Task
from memflow.benchmarks.membench.generation.preferences import TOPICS
from memflow.benchmarks.membench.generation.templates import fill_any, preference_templates

FEWEST = 3
"""Items of a session: of fewer there would not be three other lists."""


def lowlevel_rec(task: Task) -> Plan:
    """One session. It has one item more than preferences are seen from at least: four or five, as published.

    Raises BadInput where the map does not have them.
    """
    least, most = task.parameters.items
    session = _session(task, task.scenario, (min(least + 1, most), most))
    return _planned(task, [session], about(task, task.scenario).recommendations)


def rec_multi_session(task: Task) -> Plan:
    """A session about each topic, with as few items as preferences are seen from: three, as published.

    Raises BadInput where the map does not have them.
    """
    least, _ = task.parameters.items
    sessions: list[_Session] = []
    for topic in TOPICS:
        heard = [item for session in sessions for item in (*session.recommended, *session.others)]
        sessions.append(_session(task, topic, (least, least), heard))
    return _planned(task, sessions, preference_templates(task.language).all_recommendations)


@dataclass(frozen=True)
class _Session:
    """A session; the items recommended in it, by the beat in which they were; and items that were not."""

    talk: Talk
    recommended: dict[str, int]
    others: tuple[str, ...]


def _session(task: Task, topic: str, sizes: tuple[int, int], heard: Collection[str] = ()) -> _Session:
    least, most = (max(FEWEST, size) for size in sizes)
    items, unheard = drawn(task, topic, liked_category(task, topic), (least, most), heard)
    words, chance = about(task, topic), task.chance
    beats: list[Beat] = []
    recommended: dict[str, int] = {}
    for at, item in enumerate(items):
        if at == 1 or (at > 1 and chance.random() < task.parameters.recommended):
            recommended[item] = at
            told = {"entity": topic, "attribute": "recommended", "value": item}
            wanted, offered = fill_any(words.wanted, chance), fill_any(words.recommended, chance, item=item)
            beats.append(Beat(wanted, offered, keeps=(item,), exposes=told))
        else:
            beats.append(Beat(fill_any(words.liked, chance, item=item), keeps=(item,)))
    fillers = tuple(chance.randint(*task.parameters.fillers) for _ in beats)
    others = [item for item in items if item not in recommended]
    return _Session(Talk(words.plural, tuple(beats), fillers=fillers), recommended, (*others, *unheard[:1]))


def _planned(task: Task, sessions: Sequence[_Session], question: str) -> Plan:
    comma = preference_templates(task.language).comma
    right = [item for session in sessions for item in session.recommended]
    wrong = other_lists(task, right, [item for session in sessions for item in session.others])
    query = Query(
        question=question,
        answer=comma.join(right),
        evidence=tuple(
            (at, beat) for at, session in enumerate(sessions) for beat in session.recommended.values()
        ),
        wrong=tuple(comma.join(items) for items in wrong),
        keeps=tuple(session.talk.topic for session in sessions),
    )
    return task.plan(tuple(session.talk for session in sessions), query)


def other_lists(task: Task, right: Sequence[str], others: Sequence[str]) -> list[tuple[str, ...]]:
    """Three lists of which no two hold the same, and none the right things: by chance each has an item too few, one too
    many, or another in place of one."""
    places = range(len(right))
    shorter = [(*right[:at], *right[at + 1 :]) for at in places if len(right) > 1]
    longer = [
        (*right[:at], item, *right[at:]) for item in others for at in [task.chance.randint(0, len(right))]
    ]
    swapped = [(*right[:at], item, *right[at + 1 :]) for item in others for at in places]
    ways = [task.chance.sample(way, len(way)) for way in (shorter, longer, swapped)]
    task.chance.shuffle(ways)
    most = max(map(len, ways))
    return [way[at] for at in range(most) for way in ways if at < len(way)][:WRONG]


PLANNERS: Mapping[str, Planner] = {"lowlevel_rec": lowlevel_rec, "rec_multi_session": rec_multi_session}
"""What draws up the plans of these kinds."""
