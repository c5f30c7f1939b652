"""A-Mem's notes (section 3.1) and the links between them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from memflow.memories.a_mem.answers import Described, Evolved
from memflow.memories.entries import EntryStore, Item
from memflow.memories.verbatim import with_date

NOTE = "note"


@dataclass(frozen=True, slots=True)
class Note:
    """What an entry of kind `note` holds, as its `meta`.

    `number` counts notes in the order of their messages, and stays when a note evolves. `links` are the entries
    that it was linked with when it was written, as they were then. `evolved_by` is the message whose note last
    changed its keywords, context and tags.
    """

    number: int
    content: str
    time: str | None = None
    keywords: Sequence[str] = ()
    context: str = ""
    tags: Sequence[str] = ()
    links: Sequence[str] = field(default=())
    evolved_by: str | None = None

    @classmethod
    def of(cls, item: Item) -> "Note":
        """The note that an entry holds."""
        return cls(**item.meta)

    @property
    def meta(self) -> dict[str, Any]:
        """As an entry holds it."""
        return asdict(self)

    @property
    def embedded(self) -> str:
        """What its vector is of: content, keywords, tags and context (equation 3), not the time."""
        described = (", ".join(self.keywords), ", ".join(self.tags), self.context)
        return "\n".join(part for part in (self.content, *described) if part)

    @property
    def text(self) -> str:
        """As a model sees it, in the prompt of an answer as of a link: a line for each part that it has."""
        parts = {"context": self.context, "keywords": ", ".join(self.keywords), "tags": ", ".join(self.tags)}
        lines = [f"{name}: {part}" for name, part in parts.items() if part]
        return "\n".join([with_date(self.content, self.time), *lines])

    def described(self, by: Described | Evolved) -> "Note":
        """The note with what a model says of it, in place of what was said before."""
        return replace(self, keywords=by.keywords, context=by.context, tags=by.tags)


class NoteLinks:
    """The links between the live notes of a store, followed like an index: by the notes' numbers."""

    def __init__(self, store: EntryStore) -> None:
        self.store = store
        self._version = 0
        self._notes: dict[int, Item] = {}
        self._linked_by: dict[int, list[int]] = defaultdict(list)

    def around(self, item: Item) -> list[Item]:
        """The live notes that a note was linked with, in the order given, then those later linked with it."""
        self._follow()
        linked = [found for link in item.meta["links"] if (found := self.store.latest(link)) is not None]
        # Sorted: a restored store meets notes in the order of their last versions.
        later = sorted(self._linked_by.get(item.meta["number"], ()))
        return [*linked, *(self._notes[number] for number in later)]

    def _follow(self) -> None:
        for item in self.store.changes(self._version):
            if item.kind != NOTE or item.until is not None:
                continue
            number = item.meta["number"]
            # A note keeps the links it was written with: they count once, whatever its version.
            for link in () if number in self._notes else item.meta["links"]:
                if (target := self.store.latest(link)) is not None:
                    self._linked_by[target.meta["number"]].append(number)
            self._notes[number] = item
        self._version = self.store.version
