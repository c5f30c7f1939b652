"""Plans for questions about the assistant's recommendations, in one session or several.

In a session the user likes the first item and the assistant recommends the second. Further items are liked or
recommended at random (paper, appendix A.4). No item occurs twice.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

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
MIN_OTHERS = 2
"""Minimum items per session that are not recommended, in place of which wrong lists have recommended ones."""


def plan_recommendations(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan of one session with one more item than the minimum at least. Raises BadInput for too few."""
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
    """A session with the recommended items and with the items that are not recommended."""

    session: PlannedSession
    recommended: tuple[str, ...]
    others: tuple[str, ...]


def _session(
    request: PlanRequest, topic: str, sizes: tuple[int, int], heard: Collection[str] = ()
) -> _RecommendationSession:
    least, most = (max(MIN_SESSION_ITEMS, size) for size in sizes)
    items, unheard = sample_items(request, topic, preferred_category(request, topic), (least, most), heard)
    words, rng = topic_templates(request, topic), request.rng
    messages: list[PlannedMessage] = []
    recommended: list[str] = []
    for at, item in enumerate(items):
        spare = len(items) + len(unheard) - len(recommended) > MIN_OTHERS
        if at == 1 or (at > 1 and spare and rng.random() < request.parameters.recommended):
            recommended.append(item)
            told = {"entity": topic, "attribute": "recommended", "value": item}
            wanted, offered = fill_any(words.wanted, rng), fill_any(words.recommended, rng, item=item)
            messages.append(PlannedMessage(wanted, offered, required_words=(item,), exposes=told))
        else:
            messages.append(PlannedMessage(fill_any(words.liked, rng, item=item), required_words=(item,)))
    fillers = tuple(rng.randint(*request.parameters.fillers) for _ in messages)
    others = [item for item in items if item not in recommended]
    return _RecommendationSession(
        PlannedSession(words.plural, tuple(messages), fillers=fillers),
        tuple(recommended),
        (*others, *unheard[:MIN_OTHERS]),
    )


def _planned(
    request: PlanRequest, sessions: Sequence[_RecommendationSession], question: str
) -> TrajectoryPlan:
    comma = preference_templates(request.language).comma
    right = [item for session in sessions for item in session.recommended]
    swaps = [
        (item, other) for session in sessions for item in session.recommended for other in session.others
    ]
    query = PlannedQuestion(
        question=question,
        answer=comma.join(right),
        wrong=tuple(comma.join(items) for items in sample_wrong_lists(request, right, swaps)),
        required_words=tuple(session.session.topic for session in sessions),
    )
    return request.plan(tuple(session.session for session in sessions), query)


def sample_wrong_lists(
    request: PlanRequest, right: Sequence[str], swaps: Sequence[tuple[str, str]]
) -> list[tuple[str, ...]]:
    """Return three wrong lists, with one of two recommended items replaced, with the other, and with both.

    So each of the four lists is as much like the others as any other list. A list of one item is replaced by others.
    `swaps` are pairs of a recommended item and an item of the same topic that is not recommended.
    """
    mixed = request.rng.sample(swaps, len(swaps))
    if len(right) == 1:
        return [(other,) for _, other in mixed[:DISTRACTOR_COUNT]]
    one, other = next(pair for pair in combinations(mixed, 2) if len({*pair[0], *pair[1]}) == 2 * len(pair))
    return [
        tuple(dict(replaced).get(item, item) for item in right)
        for replaced in ((one,), (other,), (one, other))
    ]


PLANNERS: Mapping[str, Planner] = {
    "lowlevel_rec": plan_recommendations,
    "rec_multi_session": plan_recommendations_over_sessions,
}
"""Planners by question kind."""
