"""Plans for questions about the assistant's recommendations, in one session or several.

In a session the user likes the first item and the assistant recommends the second. Further items are liked or
recommended at random (paper, appendix A.4). No item occurs twice.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memflow.benchmarks.membench.generation.liked_items import (
    DISTRACTOR_COUNT,
    preferred_category,
    sample_items,
    topic_templates,
)
from memflow.benchmarks.membench.generation.plans import (
    PlannedMessage,
    PlannedQuestion,
    PlannedSession,
    Planner,
    PlanRequest,
    TrajectoryPlan,
)
from memflow.benchmarks.membench.generation.preferences import TOPICS
from memflow.benchmarks.membench.generation.templates import fill_any, preference_templates

MIN_SESSION_ITEMS = 3
"""Minimum items per session, needed for three wrong lists."""


def plan_recommendations(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan of one session with four or five items, as published. Raises BadInput for too few items."""
    least, most = request.parameters.items
    session = _session(request, request.scenario, (min(least + 1, most), most))
    return _planned(request, [session], topic_templates(request, request.scenario).recommendations)


def plan_recommendations_over_sessions(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan of one session per topic with three items each, as published. Raises BadInput for too few items."""
    least, _ = request.parameters.items
    sessions: list[_RecommendationSession] = []
    for topic in TOPICS:
        heard = [item for session in sessions for item in (*session.recommended, *session.others)]
        sessions.append(_session(request, topic, (least, least), heard))
    return _planned(request, sessions, preference_templates(request.language).all_recommendations)


@dataclass(frozen=True)
class _RecommendationSession:
    """A session with the recommended items by message number, and with the items that are not recommended."""

    session: PlannedSession
    recommended: dict[str, int]
    others: tuple[str, ...]


def _session(
    request: PlanRequest, topic: str, sizes: tuple[int, int], heard: Collection[str] = ()
) -> _RecommendationSession:
    least, most = (max(MIN_SESSION_ITEMS, size) for size in sizes)
    items, unheard = sample_items(request, topic, preferred_category(request, topic), (least, most), heard)
    words, rng = topic_templates(request, topic), request.rng
    messages: list[PlannedMessage] = []
    recommended: dict[str, int] = {}
    for at, item in enumerate(items):
        if at == 1 or (at > 1 and rng.random() < request.parameters.recommended):
            recommended[item] = at
            told = {"entity": topic, "attribute": "recommended", "value": item}
            wanted, offered = fill_any(words.wanted, rng), fill_any(words.recommended, rng, item=item)
            messages.append(PlannedMessage(wanted, offered, required_words=(item,), exposes=told))
        else:
            messages.append(PlannedMessage(fill_any(words.liked, rng, item=item), required_words=(item,)))
    fillers = tuple(rng.randint(*request.parameters.fillers) for _ in messages)
    others = [item for item in items if item not in recommended]
    return _RecommendationSession(
        PlannedSession(words.plural, tuple(messages), fillers=fillers), recommended, (*others, *unheard[:1])
    )


def _planned(
    request: PlanRequest, sessions: Sequence[_RecommendationSession], question: str
) -> TrajectoryPlan:
    comma = preference_templates(request.language).comma
    right = [item for session in sessions for item in session.recommended]
    wrong = sample_wrong_lists(request, right, [item for session in sessions for item in session.others])
    query = PlannedQuestion(
        question=question,
        answer=comma.join(right),
        evidence=tuple(
            (at, message) for at, session in enumerate(sessions) for message in session.recommended.values()
        ),
        wrong=tuple(comma.join(items) for items in wrong),
        required_words=tuple(session.session.topic for session in sessions),
    )
    return request.plan(tuple(session.session for session in sessions), query)


def sample_wrong_lists(
    request: PlanRequest, right: Sequence[str], others: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return three distinct wrong lists, each with one item removed, added or replaced."""
    places = range(len(right))
    shorter = [(*right[:at], *right[at + 1 :]) for at in places if len(right) > 1]
    longer = [
        (*right[:at], item, *right[at:]) for item in others for at in [request.rng.randint(0, len(right))]
    ]
    swapped = [(*right[:at], item, *right[at + 1 :]) for item in others for at in places]
    ways = [request.rng.sample(way, len(way)) for way in (shorter, longer, swapped)]
    request.rng.shuffle(ways)
    most = max(map(len, ways))
    return [way[at] for at in range(most) for way in ways if at < len(way)][:DISTRACTOR_COUNT]


PLANNERS: Mapping[str, Planner] = {
    "lowlevel_rec": plan_recommendations,
    "rec_multi_session": plan_recommendations_over_sessions,
}
"""Planners by question kind."""
