"""Functions that return a user's preferred category of a topic, random items of a category, and other categories."""

from collections.abc import Collection
from typing import cast

from memflow.benchmarks.membench.generation.plans import PlanRequest
from memflow.benchmarks.membench.generation.preferences import Topic
from memflow.benchmarks.membench.generation.templates import TopicTemplates, preference_templates
from memflow.benchmarks.membench.wording import contains_word, rerun_advice
from memflow.errors import BadInput

DISTRACTOR_COUNT = 3
"""Number of wrong options."""


def topic_templates(request: PlanRequest, topic: str) -> TopicTemplates:
    """Return the templates of a topic in the request's language."""
    return preference_templates(request.language).topics[cast(Topic, topic)]


def preferred_category(request: PlanRequest, topic: str) -> str:
    """Return the user's preferred category. Raises BadInput if the graph or the preferences lack the category."""
    category = request.graph.user.attributes.get(topic)
    if category is None:
        raise BadInput(f"user {request.graph.user_id} has no {topic} preference. {rerun_advice()}")
    if category not in request.categories(topic):
        raise BadInput(
            f"user {request.graph.user_id} prefers the {topic} category {category!r}, which the preferences lack. They "
            f"have {', '.join(request.categories(topic))}. {rerun_advice()}"
        )
    return category


def sample_items(
    request: PlanRequest, topic: str, category: str, sizes: tuple[int, int], besides: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Return chosen items of a category and all its other items, in random order. Items in `besides` are excluded.

    `sizes` is the minimum and maximum number of chosen items. Raises BadInput if the category has fewer items.
    """
    items = [item for item in request.categories(topic)[category] if item not in besides]
    least, most = sizes
    if len(items) < least:
        raise BadInput(
            f"the {topic} category {category!r} has {len(items)} unused items, but {least} are "
            "needed. Add items to the category."
        )
    count = request.rng.randint(least, min(most, len(items)))
    mixed = request.rng.sample(items, len(items))
    return mixed[:count], mixed[count:]


def revealing_items(request: PlanRequest, topic: str, *categories: str) -> list[str]:
    """Return the items whose title contains the name of one of these categories."""
    items = (item for group in request.categories(topic).values() for item in group)
    return [item for item in items if any(contains_word(item, category) for category in categories)]


def sample_other_categories(request: PlanRequest, topic: str) -> list[str]:
    """Return three random categories that the user does not prefer."""
    liked = preferred_category(request, topic)
    return request.rng.sample([name for name in request.categories(topic) if name != liked], DISTRACTOR_COUNT)
