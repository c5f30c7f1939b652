"""Plans for questions about a preference that only liked items show (paper, section 3.1 and appendix A.4).

highlevel       items of one category in one session, each linked to the previous item
highlevel_rec   one session per item; the items of three other categories, which the user dislikes, are mixed in
"""

from collections.abc import Mapping
from itertools import pairwise

from memflow.benchmarks.membench.generation.emotion_plans import plan_emotion
from memflow.benchmarks.membench.generation.liked_items import (
    preferred_category,
    revealing_items,
    sample_items,
    sample_other_categories,
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
from memflow.benchmarks.membench.generation.templates import fill_any
from memflow.benchmarks.membench.kinds import EMOTION

STATED_SHARE = 0.3
"""Probability that a user states an opinion without a recommendation, as in the published code."""


def plan_preference(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan with one session about liked items, or with two about moods. Raises BadInput for too few items."""
    if request.scenario == EMOTION:
        return plan_emotion(request)
    words, items = topic_templates(request, request.scenario), _liked(request)
    told = [fill_any(words.liked, request.rng, item=items[0])]
    told += [fill_any(words.liked_too, request.rng, before=one, item=item) for one, item in pairwise(items)]
    messages = [
        PlannedMessage(sentence, required_words=(item,), exposes=_exposed(request, item))
        for item, sentence in zip(items, told, strict=True)
    ]
    category = preferred_category(request, request.scenario)
    session = PlannedSession(
        words.plural,
        tuple(messages),
        fillers=tuple(_fillers(request) for _ in messages),
        forbidden_words=(category,),
    )
    others = sample_other_categories(request, request.scenario)
    return request.plan((session,), _plan_question(request, others))


def plan_preference_from_recommendations(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan of one session per liked or disliked item. Raises BadInput for too few items."""
    others = sample_other_categories(request, request.scenario)
    liked = _liked(request)
    disliked = [_disliked(request, category) for category in others]
    later = [*liked[1:], *disliked]
    order = [liked[0], *request.rng.sample(later, len(later))]
    sessions = tuple(_judged(request, item, item in liked) for item in order)
    return request.plan(sessions, _plan_question(request, others))


def _liked(request: PlanRequest) -> list[str]:
    category = preferred_category(request, request.scenario)
    silent = revealing_items(request, request.scenario, category)
    return sample_items(request, request.scenario, category, request.parameters.items, besides=silent)[0]


def _disliked(request: PlanRequest, category: str) -> str:
    """Return an item of a category whose title names neither this nor the preferred category."""
    silent = revealing_items(
        request, request.scenario, category, preferred_category(request, request.scenario)
    )
    return sample_items(request, request.scenario, category, (1, 1), besides=silent)[0][0]


def _judged(request: PlanRequest, item: str, liked: bool) -> PlannedSession:
    """Return a session about one item: an opinion, or a recommendation that the user accepts or rejects."""
    words, rng = topic_templates(request, request.scenario), request.rng
    exposes = _exposed(request, item) if liked else None
    if rng.random() < STATED_SHARE:
        stated = fill_any(words.liked if liked else words.disliked, rng, item=item)
        messages = [PlannedMessage(stated, required_words=(item,), exposes=exposes)]
    else:
        wanted, offered = fill_any(words.wanted, rng), fill_any(words.recommended, rng, item=item)
        answered = fill_any(words.accepted if liked else words.rejected, rng, item=item)
        messages = [
            PlannedMessage(wanted, offered, required_words=(item,)),
            PlannedMessage(answered, required_words=(item,), exposes=exposes),
        ]
    fillers = (*(0 for _ in messages[1:]), _fillers(request))
    forbidden_words = (preferred_category(request, request.scenario),)
    return PlannedSession(words.plural, tuple(messages), fillers=fillers, forbidden_words=forbidden_words)


def _exposed(request: PlanRequest, item: str) -> dict[str, str]:
    category = preferred_category(request, request.scenario)
    return {"entity": request.scenario, "attribute": "liked", "value": item, "category": category}


def _fillers(request: PlanRequest) -> int:
    """Return the number of rounds after an item; in observation, at least one message."""
    least, most = request.parameters.fillers
    return request.rng.randint(1 if request.scene == "observation" else least, most)


def _plan_question(request: PlanRequest, others: list[str]) -> PlannedQuestion:
    words = topic_templates(request, request.scenario)
    return PlannedQuestion(
        question=words.preference,
        answer=preferred_category(request, request.scenario),
        wrong=tuple(others),
        required_words=(words.plural,),
    )


PLANNERS: Mapping[str, Planner] = {
    "highlevel": plan_preference,
    "highlevel_rec": plan_preference_from_recommendations,
}
"""Planners by question kind. The published code asks for a movie in every recommendation question; ours asks for
the topic.
"""
