"""What a user likes: a category of each topic, the items that show it, and the categories that it is not.

Plans that rest on likings draw from here (preferring.py, recommending.py). Which categories there are, and that an item
is in one of them alone, is lives/preferences.py.
"""

from collections.abc import Collection
from typing import cast

from memflow.benchmarks.membench.generation.plans import PlanRequest
from memflow.benchmarks.membench.generation.preferences import Topic
from memflow.benchmarks.membench.generation.templates import TopicTemplates, preference_templates
from memflow.benchmarks.membench.wording import contains_word
from memflow.errors import BadInput

DISTRACTOR_COUNT = 3
"""Options that stand beside the right one."""


def topic_templates(request: PlanRequest, topic: str) -> TopicTemplates:
    """What is said of a topic in the task's language."""
    return preference_templates(request.language).topics[cast(Topic, topic)]


def preferred_category(request: PlanRequest, topic: str) -> str:
    """The category of a topic that the user likes best. Raises BadInput where the graph or the map has none."""
    category = request.graph.user.attributes.get(topic)
    if category is None:
        raise BadInput(f"user {request.graph.user_id} has no preference for a {topic}; make the states again")
    if category not in request.categories(topic):
        raise BadInput(
            f"user {request.graph.user_id} prefers the {topic} {category!r}, which is in no map; there are"
            f" {', '.join(request.categories(topic))}"
        )
    return category


def sample_items(
    request: PlanRequest, topic: str, category: str, sizes: tuple[int, int], besides: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """So many items of a category, at least and at most, in an order of chance; and those that are left.

    None is of `besides`. Raises BadInput where there are fewer.
    """
    items = [item for item in request.categories(topic)[category] if item not in besides]
    least, most = sizes
    if len(items) < least:
        raise BadInput(
            f"the {topic} category {category!r} has {len(items)} items to tell of; {least} are needed"
        )
    count = request.rng.randint(least, min(most, len(items)))
    mixed = request.rng.sample(items, len(items))
    return mixed[:count], mixed[count:]


def revealing_items(request: PlanRequest, topic: str, *categories: str) -> list[str]:
    """The items of a topic that say the name of one of these categories: no evidence, since they give it away."""
    items = (item for held in request.categories(topic).values() for item in held)
    return [item for item in items if any(contains_word(item, category) for category in categories)]


def sample_other_categories(request: PlanRequest, topic: str) -> list[str]:
    """Three categories that the user likes less."""
    liked = preferred_category(request, topic)
    return request.rng.sample([name for name in request.categories(topic) if name != liked], DISTRACTOR_COUNT)
