"""FakeServer: a memory server in this process, for tests and dry runs. It lists messages and searches by word overlap.

`Faults` makes it fail in the ways in which real servers fail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memflow.errors import ServerDown, ServerFailed
from memflow.memories.server.protocol import (
    Capabilities,
    Exported,
    Found,
    Hello,
    SentMessage,
    WireItem,
    WriteFailure,
    Written,
)
from memflow.words import search_words

EVERYTHING = Capabilities(
    as_of="writes",
    fork=True,
    restore=True,
    export="live",
    sources="message",
    dates=True,
    models="none",
    deterministic=True,
)
"""The capabilities of a fake server without faults."""
PROFILE = "profile"
"""The id and the kind of the item that a server with `profile` rewrites at each write."""


@dataclass
class Faults:
    """The faults of a fake server. Numbers count requests of one kind from 1; 0 is never."""

    fail_write: int = 0
    """Fail this write."""
    fail_read: int = 0
    """Fail this read."""
    fail_export: int = 0
    """Fail this export."""
    lose_write: int = 0
    """Report this write as a failure of the server, and store nothing of it."""
    down_after: int = 0
    """Be gone after so many requests."""
    lazy_index: bool = False
    """Find a write only after the next request."""
    random_ids: bool = False
    """Give each item another id in each answer."""
    forget_sources: bool = False
    """Return items without the sources that are declared."""
    unknown_sources: bool = False
    """Return items with ids of messages that were never sent."""
    leak: bool = False
    """Find the items of all spaces."""
    writes_on_read: bool = False
    """Count each read as a use of its items, and rank used items first."""
    stale_as_of: bool = False
    """Answer a read as of an earlier write with the present."""


@dataclass(frozen=True)
class _StoredText:
    """An item of a space: a message, with the number of its write."""

    item: WireItem
    write: int
    uses: int = 0


@dataclass(eq=False)
class FakeServer:
    """A memory server in this process. `requests` has the operation and the space of each request; of a fork, the new
    space."""

    can: Capabilities = EVERYTHING
    name: str = "fake"
    version: str = "1"
    settings: Mapping[str, Any] = field(default_factory=dict)
    capacity: int = 0
    """The number of newest messages that a space keeps; 0 keeps all."""
    profile: bool = False
    """Whether a space also has an item that each write rewrites."""
    faults: Faults = field(default_factory=Faults)
    requests: list[tuple[str, str]] = field(default_factory=list)
    spaces: dict[str, list[_StoredText]] = field(default_factory=dict)
    most_spaces: int = 0
    """The maximum number of spaces that existed at once."""

    def __post_init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._indexed: dict[str, list[_StoredText]] = {}

    async def hello(self) -> Hello:
        """Return name, version, settings and capabilities."""
        self._count("hello", "")
        return Hello(name=self.name, version=self.version, settings=dict(self.settings), can=self.can)

    async def reset(self, space: str) -> None:
        """Empty a space, or create it."""
        self._count("reset", space)
        self._put(space, [])

    async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> Written:
        """Add each message as an item."""
        number, stored = self._count("write", space), self._space(space)
        if number == self.faults.fail_write:
            raise ServerFailed(f"the fake server failed at write {number}, as its faults say.")
        if number == self.faults.lose_write:
            lost = WriteFailure(why="not stored", sources=tuple(message.id for message in messages))
            return Written(failures=(lost,))
        before = list(stored)
        for message in messages:
            stored.append(_StoredText(self._item(message, write, len(stored)), write))
        if self.profile and messages:
            kept = [each for each in stored if each.item.id != PROFILE]
            latest = self._item(messages[-1], write, 0)
            text = f"The latest words: {latest.text}"
            about = replace(
                kept[-1], item=latest.model_copy(update={"id": PROFILE, "text": text, "kind": PROFILE})
            )
            stored[:] = [about, *kept]
        if self.capacity:
            del stored[: max(0, len(stored) - self.capacity)]
        self._indexed[space] = before if self.faults.lazy_index else stored
        return Written(counts={"messages": len(messages)})

    async def read(
        self, space: str, query: str, k: int, *, asked_at: str | None = None, as_of: int | None = None
    ) -> Found:
        """Return the `k` items that have most words of the query; equal ones in the order of their writes."""
        number, stored = self._count("read", space), self._indexed.get(space, self._space(space))
        self._indexed[space] = self._space(space)
        if number == self.faults.fail_read:
            raise ServerFailed(f"the fake server failed at read {number}, as its faults say.")
        if self.faults.leak:
            stored = [each for items in self.spaces.values() for each in items]
        if as_of is not None and not self.faults.stale_as_of:
            stored = [each for each in stored if each.write <= as_of]
        words = set(search_words(query))
        scored = [(len(words & set(search_words(each.item.text))), each) for each in stored]
        found = sorted((each for each in scored if each[0]), key=lambda each: (-each[1].uses, -each[0]))[:k]
        if self.faults.writes_on_read:
            used = {id(each) for _, each in found}
            self._put(
                space, [replace(each, uses=each.uses + (id(each) in used)) for each in self._space(space)]
            )
        return Found(
            items=tuple(self._sent(each.item, float(score), at) for at, (score, each) in enumerate(found))
        )

    async def export(self, space: str) -> Exported:
        """Return all items of a space."""
        number = self._count("export", space)
        if number == self.faults.fail_export:
            raise ServerFailed(f"the fake server failed at export {number}, as its faults say.")
        return Exported(
            items=tuple(self._sent(each.item, None, at) for at, each in enumerate(self._space(space)))
        )

    async def fork(self, space: str, to: str) -> None:
        """Copy a space."""
        self._count("fork", to)
        self._put(to, list(self._space(space)))

    async def restore(self, space: str, items: Sequence[WireItem]) -> None:
        """Fill an empty space with items."""
        self._count("restore", space)
        if self._space(space):
            raise ServerFailed(f"the space {space} is not empty, so it cannot be restored.")
        self._put(space, [_StoredText(item, 0) for item in items])

    async def close(self, space: str) -> None:
        """Delete a space."""
        self._count("close", space)
        self.spaces.pop(space, None)
        self._indexed.pop(space, None)

    def _item(self, message: SentMessage, write: int, number: int) -> WireItem:
        sources = {"message": (message.id,), "write": (str(write),), "none": ()}[self.can.sources]
        return WireItem(
            id=f"{write}.{number}",
            text=f"{message.speaker or message.role}: {message.text}",
            sources=sources,
            sent_at=message.sent_at if self.can.dates else None,
        )

    def _sent(self, item: WireItem, score: float | None, at: int) -> WireItem:
        """Return an item as an answer contains it, with the faults."""
        changed: dict[str, Any] = {"score": score}
        if self.faults.random_ids:
            changed["id"] = f"r{len(self.requests)}.{at}"
        if self.faults.forget_sources:
            changed["sources"] = ()
        if self.faults.unknown_sources:
            changed["sources"] = ("never sent",)
        return item.model_copy(update=changed)

    def _put(self, space: str, items: list[_StoredText]) -> None:
        self.spaces[space] = items
        self._indexed[space] = items
        self.most_spaces = max(self.most_spaces, len(self.spaces))

    def _space(self, space: str) -> list[_StoredText]:
        if space not in self.spaces:
            raise ServerFailed(f"the space {space} does not exist. Reset it first.")
        return self.spaces[space]

    def _count(self, operation: str, space: str) -> int:
        """Count a request, and return the number of requests of its operation so far."""
        if self.faults.down_after and len(self.requests) >= self.faults.down_after:
            raise ServerDown("the fake server is gone, as its faults say.")
        self.requests.append((operation, space))
        self._counts[operation] = self._counts.get(operation, 0) + 1
        return self._counts[operation]
