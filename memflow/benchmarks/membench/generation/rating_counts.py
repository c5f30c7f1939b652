"""Derivation of preference categories from ratings: the items and the number of users of each category.

A user prefers the category that is most frequent among the positively rated items (paper, section 3.1); of equally
frequent categories, the first. Only items with a single category are used, most liked first. `rating_datasets.py` reads
the files.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from memflow.benchmarks.membench.generation.preferences import (
    MAX_ITEMS,
    MIN_CATEGORIES,
    MIN_ITEMS,
    Category,
    Topic,
)
from memflow.errors import BadInput

Items = Mapping[str, tuple[str, ...]]
"""Category names by item id."""
Titles = Callable[[frozenset[str]], Mapping[str, str]]
"""Function from item ids to titles."""
TITLE_CANDIDATES = 4
"""Factor of items considered per item kept, because titles may be missing or repeated."""
MIN_KNOWN_SHARE = 0.5
"""Minimum share of positive ratings whose item is described."""
_LONGEST = 300


class PositiveRatings:
    """Running counts of positive ratings. Memory use grows with users and items, not with ratings."""

    def __init__(self, items: Items) -> None:
        self.items = items
        self.names = sorted({name for names in items.values() for name in names})
        self._places = {name: place for place, name in enumerate(self.names)}
        self._users: dict[str, int] = {}
        self._counts = array("I")
        """For each user in turn, how many items of each category were rated positively."""
        self.liked: Counter[str] = Counter()
        self.unknown = 0

    def like(self, user: str, item: str) -> None:
        """Count a positive rating of an item. The item may be unknown."""
        names = self.items.get(item)
        if names is None:
            self.unknown += 1
            return
        self.liked[item] += 1
        at = self._users.setdefault(user, len(self._users)) * len(self.names)
        if at == len(self._counts):
            self._counts.extend([0] * len(self.names))
        for name in names:
            self._counts[at + self._places[name]] += 1

    def count_favorites(self, among: Sequence[str]) -> Counter[str]:
        """Count users by their most frequent category among the categories in `among`."""
        places = [self._places[name] for name in among]
        found: Counter[str] = Counter()
        for at in range(0, len(self._counts), max(1, len(self.names))):
            counts = [self._counts[at + place] for place in places]
            if any(counts):
                found[among[counts.index(max(counts))]] += 1
        return found

    def exclusive_items(self, name: str) -> list[str]:
        """Return the liked items that have this category and no other, most liked first."""
        items = [item for item in self.liked if self.items[item] == (name,)]
        return sorted(items, key=lambda item: (-self.liked[item], item))[: TITLE_CANDIDATES * MAX_ITEMS]


def build_categories(topic: Topic, ratings: PositiveRatings, titles: Titles) -> list[Category]:
    """Return the categories of a topic with their most liked items. Raises BadInput for too few categories."""
    rated = sum(ratings.liked.values())
    if not rated or ratings.unknown > MIN_KNOWN_SHARE * (rated + ratings.unknown):
        raise BadInput(
            f"{ratings.unknown} of {rated + ratings.unknown} positive ratings are of items without a "
            "description. Use the rating and item files of the same release."
        )
    exclusive_items = {name: ratings.exclusive_items(name) for name in ratings.names}
    called = titles(frozenset(item for items in exclusive_items.values() for item in items))
    used: set[str] = set()
    kept = {name: _titled(items, called, used) for name, items in exclusive_items.items()}
    kept = {name: own_titles for name, own_titles in kept.items() if len(own_titles) >= MIN_ITEMS}
    if len(kept) < MIN_CATEGORIES:
        raise BadInput(
            f"only {len(kept)} categories have {MIN_ITEMS} items that no other category has, but "
            f"{MIN_CATEGORIES} are needed. Get the complete data set."
        )
    liked = ratings.count_favorites(list(kept))
    return [
        Category(topic=topic, name=name, items=tuple(own_titles), weight=liked[name])
        for name, own_titles in kept.items()
    ]


def _titled(items: Iterable[str], called: Mapping[str, str], used: set[str]) -> list[str]:
    """Return the first titles of the items, up to the maximum number, without duplicates. Case is ignored."""
    found: list[str] = []
    for item in items:
        title = " ".join(called.get(item, "").split())
        if title and len(title) <= _LONGEST and title.lower() not in used and len(found) < MAX_ITEMS:
            used.add(title.lower())
            found.append(title)
    return found
