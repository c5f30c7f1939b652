"""What a user likes: a category of each sort of thing, the items that show it, and the categories that it is not.

Plans that rest on likings draw from here (preferring.py, recommending.py). Which categories and items there are is
preferences.py.
"""

import random
import re
from collections.abc import Collection, Sequence

from memflow.benchmarks.membench.generation.planning import Task
from memflow.errors import BadInput

SORTS = ("movie", "food", "book")
"""The sorts of things that are liked, in the order in which a trajectory about all of them has them."""

WRONG = 3
"""Options that stand beside the right one."""


def says(text: str, word: str) -> bool:
    """Whether a text says a word, whole and in either case; in a script without spaces, anywhere."""
    if not word.isascii():
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def liked_category(task: Task, sort: str) -> str:
    """The category of the sort that the user likes best. Raises BadInput where the graph or the map has none."""
    category = task.life.self.attributes.get(sort)
    if category is None:
        raise BadInput(f"user {task.life.user_id} has no preference for a {sort}; make the states again")
    if category not in task.preferences[sort]:
        known = ", ".join(task.preferences[sort])
        raise BadInput(
            f"user {task.life.user_id} prefers the {sort} {category!r}, which the map does not have: {known}"
        )
    return category


def items_of(task: Task, sort: str, category: str, besides: Collection[str] = ()) -> list[str]:
    """The items of a category in an order of chance, each once, but for those `besides`.

    Items that say the category's name are no evidence for it, and are left out.
    """
    items = dict.fromkeys(task.preferences[sort][category])
    silent = [item for item in items if item not in besides and not says(item, category)]
    return task.chance.sample(silent, len(silent))


def some_items(
    task: Task, sort: str, sizes: tuple[int, int], besides: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """So many items, at least and at most, of the category that the user likes best; and its others.

    Raises BadInput where it has fewer.
    """
    category = liked_category(task, sort)
    items = items_of(task, sort, category, besides)
    least, most = sizes
    if len(items) < least:
        raise BadInput(
            f"the {sort} category {category!r} has {len(items)} items that do not say its name; {least} are needed"
        )
    count = task.chance.randint(least, min(most, len(items)))
    return items[:count], items[count:]


def other_categories(task: Task, sort: str, items: Sequence[str]) -> list[str]:
    """Three categories that the user likes less: those first that hold the fewest of these items, and none that holds
    all of them. Raises BadInput where the map has too few."""
    liked = liked_category(task, sort)
    held = {
        name: len(set(items) & set(theirs))
        for name, theirs in task.preferences[sort].items()
        if name != liked
    }
    fit = [name for name, shared in held.items() if shared < len(items)]
    if len(fit) < WRONG:
        raise BadInput(f"beside {liked!r} the map has {len(fit)} {sort} categories to tell it from; {WRONG} are needed")
    return sorted(task.chance.sample(fit, len(fit)), key=held.__getitem__)[:WRONG]
