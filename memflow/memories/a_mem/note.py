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
    """The content of an entry of kind `note`, stored as its `meta`.

    `number` counts notes by message and survives evolution. `links` are entry ids as of writing. `evolved_by` is the
    message whose note last changed the description.
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
        """Return the note in an entry."""
        return cls(**item.meta)

    @property
    def meta(self) -> dict[str, Any]:
        """The note as the `meta` of an entry."""
        return asdict(self)

    @property
    def embedded(self) -> str:
        """The embedded text: content, keywords, tags and context, without the time (equation 3)."""
        described = (", ".join(self.keywords), ", ".join(self.tags), self.context)
        return "\n".join(part for part in (self.content, *described) if part)

    @property
    def text(self) -> str:
        """The note as prompts and answers show it, one line per non-empty part."""
        parts = {"context": self.context, "keywords": ", ".join(self.keywords), "tags": ", ".join(self.tags)}
        lines = [f"{name}: {part}" for name, part in parts.items() if part]
        return "\n".join([with_date(self.content, self.time), *lines])

    def described(self, by: Described | Evolved) -> "Note":
        """Return the note with a new description."""
        return replace(self, keywords=by.keywords, context=by.context, tags=by.tags)


class NoteLinks:
    """Links between the live notes of a store, followed like an index; they lead both ways."""

    def __init__(self, store: EntryStore) -> None:
        self.store = store
        self._version = 0
        self._notes: dict[int, Item] = {}
        self._linked_by: dict[int, list[int]] = defaultdict(list)

    def around(self, item: Item) -> list[Item]:
        """Return the live notes that a note links to, in order, then those that link to it."""
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
