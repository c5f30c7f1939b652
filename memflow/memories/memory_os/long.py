"""Long-term personal memory: the user's profile, and two queues of knowledge, of the user and of the assistant.

The profile has a line a trait; one that is told again replaces the old. A queue drops its oldest fact when it is
full. Each entry names the messages of the page that told it.
"""

from dataclasses import dataclass

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.search import Dense, SearchHit

PROFILE, USER, ASSISTANT = "profile", "user_knowledge", "assistant_knowledge"


@dataclass
class LongTerm:
    """The personal memory of a store: at most `traits` lines of profile, and `knowledge` facts in each queue."""

    store: EntryStore
    traits: int
    knowledge: int

    def __post_init__(self) -> None:
        self._indexes = {kind: Dense(self.store, kind) for kind in (USER, ASSISTANT)}

    def profile(self) -> list[Item]:
        """The whole profile, the line that changed longest ago first."""
        return self.store.live(PROFILE)

    def describe(self, label: str, value: str, page: Item) -> None:
        """Write a line of the profile, told by `page`: in place of the one with the same label, if there is one."""
        text, meta = f"- {label}: {value}", {"label": label.strip().casefold()}
        known = [item for item in self.profile() if item.meta == meta]
        if not known:
            self.store.add(PROFILE, text, sources=page.sources, meta=meta)
        elif known[0].text != text:
            self.store.revise(known[0], text=text, sources=page.sources)
        self._shorten(PROFILE, self.traits)

    def learn(self, kind: str, text: str, vector: Vector, page: Item) -> None:
        """Put a fact told by `page` at the end of its queue; one that stands there word for word moves up."""
        known = [item for item in self.store.live(kind) if item.text == text]
        if known:
            self.store.revise(known[0], sources=dict.fromkeys((*known[0].sources, *page.sources)))
        else:
            self.store.add(kind, text, sources=page.sources, vector=vector)
        self._shorten(kind, self.knowledge)

    def search(self, kind: str, query: Vector, k: int) -> list[SearchHit]:
        """The `k` facts of a queue that are nearest to `query`, nearest first."""
        return self._indexes[kind].scored(query, k)

    def _shorten(self, kind: str, capacity: int) -> None:
        held = self.store.live(kind)
        for item in held[: max(0, len(held) - capacity)]:
            self.store.retire(item.entry_id)
