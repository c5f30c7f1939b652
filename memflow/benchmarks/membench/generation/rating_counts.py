"""Ratings -> what people like: the categories, the items that belong to each, and how many like each best.

A user's high-level preference is the most frequent category among the items that they rate positively (paper, section
3.1); of equally frequent ones, the one that stands first. An item stands under a category where it has no other, so
that it tells of this preference alone; those that most users rate positively come first. How published files say what
was rated is rated.py.
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
"""Items by id, with the names of their categories."""
Titles = Callable[[frozenset[str]], Mapping[str, str]]
"""What the items of these ids are called."""
TITLE_CANDIDATES = 4
"""How many times the items that are kept are looked at, since titles may be lacking or come twice."""
MIN_KNOWN_SHARE = 0.5
"""Share of the positive ratings whose item has to be known."""
_LONGEST = 300


class PositiveRatings:
    """Positive ratings, counted as they are read. Memory grows with users and items, not with ratings."""

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
        """Count that a user rated an item positively; of one that is not known, that there was one."""
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
        """How many users have each of the categories `among` as their most frequent one."""
        places = [self._places[name] for name in among]
        found: Counter[str] = Counter()
        for at in range(0, len(self._counts), max(1, len(self.names))):
            counts = [self._counts[at + place] for place in places]
            if any(counts):
                found[among[counts.index(max(counts))]] += 1
        return found

    def exclusive_items(self, name: str) -> list[str]:
        """The items that were rated positively and are of this category alone, the most liked first."""
        held = [item for item in self.liked if self.items[item] == (name,)]
        return sorted(held, key=lambda item: (-self.liked[item], item))[: TITLE_CANDIDATES * MAX_ITEMS]


def build_categories(topic: Topic, ratings: PositiveRatings, titles: Titles) -> list[Category]:
    """The categories of a topic with their most liked items. Raises BadInput where the ratings do not give enough."""
    rated = sum(ratings.liked.values())
    if not rated or ratings.unknown > MIN_KNOWN_SHARE * (rated + ratings.unknown):
        raise BadInput(
            f"{ratings.unknown} of {rated + ratings.unknown} positive ratings are of items that are not described; "
            "the files are not of one release"
        )
    exclusive_items = {name: ratings.exclusive_items(name) for name in ratings.names}
    called = titles(frozenset(item for items in exclusive_items.values() for item in items))
    taken: set[str] = set()
    kept = {name: _titled(items, called, taken) for name, items in exclusive_items.items()}
    kept = {name: held for name, held in kept.items() if len(held) >= MIN_ITEMS}
    if len(kept) < MIN_CATEGORIES:
        raise BadInput(
            f"only {len(kept)} categories have {MIN_ITEMS} items that are of no other; {MIN_CATEGORIES} are needed"
        )
    liked = ratings.count_favorites(list(kept))
    return [
        Category(topic=topic, name=name, items=tuple(held), weight=liked[name]) for name, held in kept.items()
    ]


def _titled(items: Iterable[str], called: Mapping[str, str], taken: set[str]) -> list[str]:
    """The titles of items, each title once in a topic however written; at most so many."""
    found: list[str] = []
    for item in items:
        title = " ".join(called.get(item, "").split())
        if title and len(title) <= _LONGEST and title.lower() not in taken and len(found) < MAX_ITEMS:
            taken.add(title.lower())
            found.append(title)
    return found
