"""FakeServer: a memory server in this process, for dry runs. It lists messages and searches by word overlap."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memflow.memories.server.protocol import (
    Capabilities,
    Hello,
    ReadAnswer,
    SentMessage,
    WireItem,
    WriteAnswer,
)
from memflow.words import search_words


@dataclass(eq=False)
class FakeServer:
    """A memory server with the required operations alone, so that it is asked at once."""

    can: Capabilities
    spaces: dict[str, list[WireItem]] = field(default_factory=dict)

    async def hello(self) -> Hello:
        """Return name, version and capabilities."""
        return Hello(name="fake", version="1", can=self.can)

    async def reset(self, space: str) -> None:
        """Empty a space, or create it."""
        self.spaces[space] = []

    async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> WriteAnswer:
        """Add each message as an item."""
        items = self.spaces[space]
        for message in messages:
            text = f"{message.speaker or message.role}: {message.text}"
            items.append(WireItem(id=f"{write}.{len(items)}", text=text, sent_at=message.sent_at))
        return WriteAnswer()

    async def read(self, space: str, query: str, k: int, **_: Any) -> ReadAnswer:
        """Return the `k` items that have most words of the query; equal ones in the order of their writes."""
        words = set(search_words(query))
        scored = [(len(words & set(search_words(item.text))), item) for item in self.spaces[space]]
        ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return ReadAnswer(items=tuple(item for _, item in ranked[:k]))

    async def close(self, space: str) -> None:
        """Delete a space."""
        self.spaces.pop(space, None)
