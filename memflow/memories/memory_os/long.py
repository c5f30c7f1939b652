"""Long-term personal memory: the user's profile, and queues of facts about the user and the assistant.

A profile line replaces the one with the same label; a full queue drops its oldest fact. Sources are the messages of
the page that states the line or fact.
"""

from dataclasses import dataclass

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.search import Dense, SearchHit

PROFILE, USER, ASSISTANT = "profile", "user_knowledge", "assistant_knowledge"


@dataclass
class LongTerm:
    """The personal memory of a store, with at most `traits` profile lines and `knowledge` facts per queue."""

    store: EntryStore
    traits: int
    knowledge: int

    def __post_init__(self) -> None:
        self._indexes = {kind: Dense(self.store, kind) for kind in (USER, ASSISTANT)}

    def profile(self) -> list[Item]:
        """Return the profile lines, the least recently changed first."""
        return self.store.live(PROFILE)

    def describe(self, label: str, value: str, page: Item) -> None:
        """Write a profile line stated by `page`, replacing the line with the same label."""
        text, meta = f"- {label}: {value}", {"label": label.strip().casefold()}
        known = [item for item in self.profile() if item.meta == meta]
        if not known:
            self.store.add(PROFILE, text, sources=page.sources, meta=meta)
        elif known[0].text != text:
            self.store.revise(known[0], text=text, sources=page.sources)
        self._shorten(PROFILE, self.traits)

    def learn(self, kind: str, text: str, vector: Vector, page: Item) -> None:
        """Append a fact stated by `page` to its queue; an equal fact moves to the end."""
        known = [item for item in self.store.live(kind) if item.text == text]
        if known:
            self.store.revise(known[0], sources=dict.fromkeys((*known[0].sources, *page.sources)))
        else:
            self.store.add(kind, text, sources=page.sources, vector=vector)
        self._shorten(kind, self.knowledge)

    def search(self, kind: str, query: Vector, k: int) -> list[SearchHit]:
        """Return the `k` facts of a queue nearest to `query`, nearest first."""
        return self._indexes[kind].scored(query, k)

    def _shorten(self, kind: str, capacity: int) -> None:
        held = self.store.live(kind)
        for item in held[: max(0, len(held) - capacity)]:
            self.store.retire(item.entry_id)
