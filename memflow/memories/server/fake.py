"""FakeServer: a memory server in this process, for dry runs. It lists messages and searches by word overlap."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memflow.errors import ServerFailed
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.server.protocol import (
    Capabilities,
    ExportAnswer,
    Hello,
    ReadAnswer,
    SentMessage,
    WireItem,
    WriteAnswer,
)
from memflow.words import search_words


@dataclass(frozen=True)
class StoredItem:
    """An item of a space: a message, with the number of its write, and of the request that forgot it."""

    item: WireItem
    write: int
    until: int | None = None

    def alive(self, write: int | None) -> bool:
        """Return whether the space has the item now, or after a write."""
        return self.until is None if write is None else self.write <= write < (self.until or write + 1)


@dataclass(eq=False)
class FakeServer:
    """A memory server in this process, with the capabilities `can`."""

    can: Capabilities
    spaces: dict[str, list[StoredItem]] = field(default_factory=dict)

    async def hello(self) -> Hello:
        """Return name, version and capabilities."""
        return Hello(name="fake", version="1", can=self.can)

    async def reset(self, space: str) -> None:
        """Empty a space, or create it."""
        self.spaces[space] = []

    async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> WriteAnswer:
        """Add each message as an item."""
        items = self.items_of(space)
        for message in messages:
            items.append(StoredItem(self.item_of(message, write, len(items)), write))
        return WriteAnswer(counts={"messages": len(messages)})

    async def read(
        self, space: str, query: str, k: int, *, asked_at: str | None = None, as_of: int | None = None
    ) -> ReadAnswer:
        """Return the `k` items that have most words of the query; equal ones in the order of their writes."""
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
        """Return all items of a space."""
        return ExportAnswer(items=tuple(each.item for each in self.items_of(space) if each.alive(None)))

    async def forget(self, space: str, write: int, request: ForgetRequest) -> WriteAnswer:
        """End the items of a message, with all words of a text, or of a period."""
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
        """Copy a space."""
        self.spaces[to] = list(self.items_of(space))

    async def restore(self, space: str, items: Sequence[WireItem]) -> None:
        """Fill an empty space with items."""
        if self.items_of(space):
            raise ServerFailed(f"the space {space} is not empty, so it cannot be restored. Reset it first.")
        self.spaces[space] = [StoredItem(item.model_copy(update={"score": None}), 0) for item in items]

    async def close(self, space: str) -> None:
        """Delete a space."""
        self.spaces.pop(space, None)

    def items_of(self, space: str) -> list[StoredItem]:
        """Return the items of a space. Raises ServerFailed if it does not exist."""
        if space not in self.spaces:
            raise ServerFailed(f"the space {space} does not exist. Reset it first.")
        return self.spaces[space]

    def item_of(self, message: SentMessage, write: int, number: int) -> WireItem:
        """Return a message of a write as an item."""
        sources = {"message": (message.id,), "write": (str(write),), "none": ()}[self.can.sources]
        return WireItem(
            id=f"{write}.{number}",
            text=f"{message.speaker or message.role}: {message.text}",
            sources=sources,
            sent_at=message.sent_at if self.can.dates else None,
        )
