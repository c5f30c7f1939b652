"""What a user likes: a category of each topic, the items that show it, and the categories that it is not.

Plans that rest on likings draw from here (preferring.py, recommending.py). Which categories there are, and that an item
is in one of them alone, is lives/preferences.py.
"""

from collections.abc import Collection
from typing import cast

from memflow.benchmarks.membench.generation.plans import Task
from memflow.benchmarks.membench.generation.preferences import Topic
from memflow.benchmarks.membench.generation.templates import TopicTemplates, preference_templates
from memflow.benchmarks.membench.wording import says
from memflow.errors import BadInput

WRONG = 3
"""Options that stand beside the right one."""


def about(task: Task, topic: str) -> TopicTemplates:
    """What is said of a topic in the task's language."""
    return preference_templates(task.language).topics[cast(Topic, topic)]


def liked_category(task: Task, topic: str) -> str:
    """The category of a topic that the user likes best. Raises BadInput where the graph or the map has none."""
    category = task.graph.user.attributes.get(topic)
    if category is None:
        raise BadInput(f"user {task.graph.user_id} has no preference for a {topic}; make the states again")
    if category not in task.categories(topic):
        raise BadInput(
            f"user {task.graph.user_id} prefers the {topic} {category!r}, which is in no map; there are"
            f" {', '.join(task.categories(topic))}"
        )
    return category


def drawn(
    task: Task, topic: str, category: str, sizes: tuple[int, int], besides: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """So many items of a category, at least and at most, in an order of chance; and those that are left.

    None is of `besides`. Raises BadInput where there are fewer.
    """
    items = [item for item in task.categories(topic)[category] if item not in besides]
    least, most = sizes
    if len(items) < least:
        raise BadInput(
            f"the {topic} category {category!r} has {len(items)} items to tell of; {least} are needed"
        )
    count = task.chance.randint(least, min(most, len(items)))
    mixed = task.chance.sample(items, len(items))
    return mixed[:count], mixed[count:]


def telling(task: Task, topic: str, *categories: str) -> list[str]:
    """The items of a topic that say the name of one of these categories: no evidence, since they give it away."""
    items = (item for held in task.categories(topic).values() for item in held)
    return [item for item in items if any(says(item, category) for category in categories)]


def other_categories(task: Task, topic: str) -> list[str]:
    """Three categories that the user likes less."""
    liked = liked_category(task, topic)
    return task.chance.sample([name for name in task.categories(topic) if name != liked], WRONG)
