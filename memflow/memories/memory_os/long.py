"""MemoryOS's long-term personal memory: the user's profile, and queues of facts about the user and the assistant."""

from dataclasses import dataclass

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.search import Dense, SearchHit

PROFILE, USER, ASSISTANT = "profile", "user_knowledge", "assistant_knowledge"


@dataclass
class LongTerm:
    """Long-term personal memory: one profile line per attribute or trait, and `knowledge` facts per queue.

    A new profile line replaces the line with the same label; a full queue drops its oldest fact. Sources are the
    messages of the page that states the line or fact.
    """

    store: EntryStore
    knowledge: int

    def __post_init__(self) -> None:
        self._indexes = {kind: Dense(self.store, kind) for kind in (USER, ASSISTANT)}

    def profile(self) -> list[Item]:
        """Return the profile lines, the least recently changed first."""
        return self.store.live(PROFILE)

    def set_profile(self, label: str, value: str, page: Item) -> None:
        """Store a profile line that `page` states; it replaces the line with the same label."""
        text, meta = f"- {label}: {value}", {"label": label}
        lines_with_label = [item for item in self.profile() if item.meta == meta]
        if not lines_with_label:
            self.store.add(PROFILE, text, sources=page.sources, meta=meta)
        elif lines_with_label[0].text != text:
            self.store.revise(lines_with_label[0], text=text, sources=page.sources)

    def add_fact(self, kind: str, text: str, vector: Vector, page: Item) -> None:
        """Append a fact that `page` states to the queue of its kind; an equal fact moves to the end instead."""
        equal_facts = [item for item in self.store.live(kind) if item.text == text]
        if equal_facts:
            self.store.revise(equal_facts[0], sources=dict.fromkeys((*equal_facts[0].sources, *page.sources)))
        else:
            self.store.add(kind, text, sources=page.sources, vector=vector)
        facts = self.store.live(kind)
        for item in facts[: max(0, len(facts) - self.knowledge)]:
            self.store.retire(item.entry_id)

    def search(self, kind: str, query: Vector, k: int) -> list[SearchHit]:
        """Return the `k` facts of a queue nearest to `query`, nearest first."""
        return self._indexes[kind].scored(query, k)
