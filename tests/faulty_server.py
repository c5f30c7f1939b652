"""FaultyServer: a memory server in this process with the faults of real servers, which counts its requests."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memflow.errors import ServerDown, ServerFailed
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.server.protocol import (
    Capabilities,
    ExportAnswer,
    Hello,
    ReadAnswer,
    SentMessage,
    WireItem,
    WriteAnswer,
    WriteFailure,
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
"""The capabilities of a server without faults."""
PROFILE = "profile"
"""The id and the kind of the item that a server with `profile` rewrites at each write."""


@dataclass
class Faults:
    """The faults of a server. Numbers count requests of one kind from 1; 0 is never."""

    fail_write: int = 0
    fail_read: int = 0
    fail_export: int = 0
    lose_write: int = 0
    """Report this write as a failure of the server, and store nothing of it."""
    down_after: int = 0
    """Be gone after so many requests."""
    lazy_index: bool = False
    """Find a write only after the next request."""
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
class StoredItem:
    """An item of a space: a message, with the number of its write, and of the request that forgot it."""

    item: WireItem
    write: int
    until: int | None = None

    def alive(self, write: int | None) -> bool:
        return self.until is None if write is None else self.write <= write < (self.until or write + 1)


@dataclass(eq=False)
class ListServer:
    """A memory server in this process, with the capabilities `can`."""

    can: Capabilities
    spaces: dict[str, list[StoredItem]] = field(default_factory=dict)

    async def hello(self) -> Hello:
        return Hello(name="fake", version="1", can=self.can)

    async def reset(self, space: str) -> None:
        self.spaces[space] = []

    async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> WriteAnswer:
        items = self.items_of(space)
        for message in messages:
            items.append(StoredItem(self.item_of(message, write, len(items)), write))
        return WriteAnswer(counts={"messages": len(messages)})

    async def read(
        self, space: str, query: str, k: int, *, asked_at: str | None = None, as_of: int | None = None
    ) -> ReadAnswer:
        words = set(search_words(query))
        entries = [stored_item for stored_item in self.items_of(space) if stored_item.alive(as_of)]
        scored = [
            (len(words & set(search_words(stored_item.item.text))), stored_item.item)
            for stored_item in entries
        ]
        ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])[:k]
        return ReadAnswer(
            items=tuple(item.model_copy(update={"score": float(score)}) for score, item in ranked)
        )

    async def export(self, space: str) -> ExportAnswer:
        return ExportAnswer(items=tuple(each.item for each in self.items_of(space) if each.alive(None)))

    async def forget(self, space: str, write: int, request: ForgetRequest) -> WriteAnswer:
        ids, words = set(request.message_ids), set(search_words(request.text))
        items = self.items_of(space)
        for index, stored_item in enumerate(items):
            item = stored_item.item
            is_named = {
                "message": not ids.isdisjoint(item.sources),
                "text": bool(words) and words <= set(search_words(item.text)),
                "time": request.covers(item.sent_at),
            }
            if is_named[request.by] and stored_item.until is None:
                items[index] = replace(stored_item, until=write)
        return WriteAnswer()

    async def fork(self, space: str, to: str) -> None:
        self.spaces[to] = list(self.items_of(space))

    async def restore(self, space: str, items: Sequence[WireItem]) -> None:
        if self.items_of(space):
            raise ServerFailed(f"the space {space} is not empty, so it cannot be restored. Reset it first.")
        self.spaces[space] = [StoredItem(item.model_copy(update={"score": None}), 0) for item in items]

    async def close(self, space: str) -> None:
        self.spaces.pop(space, None)

    def items_of(self, space: str) -> list[StoredItem]:
        if space not in self.spaces:
            raise ServerFailed(f"the space {space} does not exist. Reset it first.")
        return self.spaces[space]

    def item_of(self, message: SentMessage, write: int, number: int) -> WireItem:
        sources = {"message": (message.id,), "write": (str(write),), "none": ()}[self.can.sources]
        return WireItem(
            id=f"{write}.{number}",
            text=f"{message.speaker or message.role}: {message.text}",
            sources=sources,
            sent_at=message.sent_at if self.can.dates else None,
        )


@dataclass(eq=False)
class FaultyServer(ListServer):
    """`requests` has the operation and the space of each request; of a fork, the new space."""

    can: Capabilities = EVERYTHING
    capacity: int = 0
    """The number of newest messages that a space keeps; 0 keeps all."""
    profile: bool = False
    """Whether a space also has an item that each write rewrites."""
    faults: Faults = field(default_factory=Faults)
    requests: list[tuple[str, str]] = field(default_factory=list)
    most_spaces: int = 0
    """The maximum number of spaces that existed at once."""

    def __post_init__(self) -> None:
        self.counts = Counter[str]()
        self.uses = Counter[str]()
        self.late: dict[str, list[StoredItem]] = {}

    async def hello(self) -> Hello:
        self._count("hello", "")
        return await super().hello()

    async def reset(self, space: str) -> None:
        self._count("reset", space)
        await super().reset(space)
        self.late.pop(space, None)
        self._count_spaces()

    async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> WriteAnswer:
        number, stored = self._count("write", space), self.items_of(space)
        self._fail("write", number, self.faults.fail_write)
        if number == self.faults.lose_write:
            lost = WriteFailure(why="not stored", sources=tuple(message.id for message in messages))
            return WriteAnswer(failures=(lost,))
        if self.faults.lazy_index:
            self.late[space] = list(stored)
        written = await super().write(space, write, messages)
        if self.profile and messages:
            latest = self.item_of(messages[-1], write, 0)
            changed = {"id": PROFILE, "text": f"The latest words: {latest.text}", "kind": PROFILE}
            about = replace(stored[-1], item=latest.model_copy(update=changed))
            stored[:] = [about, *(each for each in stored if each.item.id != PROFILE)]
        if self.capacity:
            del stored[: max(0, len(stored) - self.capacity)]
        return written

    async def read(
        self, space: str, query: str, k: int, *, asked_at: str | None = None, as_of: int | None = None
    ) -> ReadAnswer:
        self._fail("read", self._count("read", space), self.faults.fail_read)
        stored = self.items_of(space)
        self.spaces[space] = self.late.pop(space, stored)
        if self.faults.leak:
            self.spaces[space] = [each for items in [*self.spaces.values()] for each in items]
        try:
            found = await super().read(space, query, 10**6, as_of=None if self.faults.stale_as_of else as_of)
        finally:
            self.spaces[space] = stored
        items = sorted(found.items, key=lambda item: -self.uses[f"{space} {item.id}"])[:k]
        if self.faults.writes_on_read:
            self.uses.update(f"{space} {item.id}" for item in items)
        return ReadAnswer(items=self._sent(items))

    async def export(self, space: str) -> ExportAnswer:
        self._fail("export", self._count("export", space), self.faults.fail_export)
        return ExportAnswer(items=self._sent((await super().export(space)).items))

    async def fork(self, space: str, to: str) -> None:
        self._count("fork", to)
        await super().fork(space, to)
        for each in self.items_of(to):
            self.uses[f"{to} {each.item.id}"] = self.uses[f"{space} {each.item.id}"]
        self._count_spaces()

    async def restore(self, space: str, items: Sequence[WireItem]) -> None:
        self._count("restore", space)
        await super().restore(space, items)

    async def close(self, space: str) -> None:
        self._count("close", space)
        await super().close(space)

    def _sent(self, items: Sequence[WireItem]) -> tuple[WireItem, ...]:
        """Return items as an answer contains them, with the faults."""
        changes: dict[str, Any] = {}
        if self.faults.forget_sources or self.faults.unknown_sources:
            changes["sources"] = ("never sent",) if self.faults.unknown_sources else ()
        return tuple(item.model_copy(update=changes) for item in items)

    def _count_spaces(self) -> None:
        self.most_spaces = max(self.most_spaces, len(self.spaces))

    def _fail(self, operation: str, number: int, failing: int) -> None:
        if number == failing:
            raise ServerFailed(f"the fake server failed at {operation} {number}, as its faults say.")

    def _count(self, operation: str, space: str) -> int:
        """Count a request, and return the number of requests of its operation so far."""
        if self.faults.down_after and len(self.requests) >= self.faults.down_after:
            raise ServerDown("the fake server is gone, as its faults say.")
        self.requests.append((operation, space))
        self.counts[operation] += 1
        return self.counts[operation]
