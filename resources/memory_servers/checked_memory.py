"""The memory that `memflow memories check` writes to and reads: the spaces of single messages, and the conversation."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Literal

from memflow.errors import ReportedError, ServerFailed
from memflow.memories.memory import Message
from memflow.memories.server.capabilities import cut_writes, sent_message
from memflow.memories.server.protocol import Capabilities, Connection, Hello, WireItem
from memflow.resources.memory_servers.check_lines import Finding
from memflow.resources.memory_servers.check_messages import (
    OLD_DATES,
    PHRASES,
    SECRETS,
    CheckMessage,
    concentration,
    words_of,
)

K = 10
READS = 8
"""Equal reads, to find a random difference: one in two is missed once in 128 checks."""
SIZES = (300, 60)
"""Messages of the conversation, and of the one in another space."""
SIZES_WITH_MODELS = (25, 3)
"""The same for a memory whose writes cost requests to models: one message a write."""


class CheckedMemory:
    """A memory behind a connection, and what the checks wrote to it.

    `sizes` are the numbers of messages in the conversations of a memory without models. `has_k` is whether a read
    returns as many items as it is asked for.
    """

    has_k = True

    def __init__(self, connection: Connection, sizes: tuple[int, int] = SIZES) -> None:
        self.connection = connection
        self._sizes = sizes
        self.greeting: Hello | None = None
        self.run_name = f"check-{uuid.uuid4().hex[:12]}"
        self.written: dict[str, int] = {}
        """The number of writes of each open space, oldest first."""
        self.main = self.other = Conversation(self, "", ())
        self.is_ranked = False
        """Whether reads return the best item first, as the check `ranked` found."""

    @property
    def can(self) -> Capabilities:
        """The capabilities that the memory declared."""
        assert self.greeting is not None, "the memory was started"
        return self.greeting.can

    def meets(self, requirement: str) -> bool:
        """Return whether the memory declares what a check requires (check_table.toml)."""
        design = {"own_texts": not self.can.design.merges, "spaces": self.can.spaces != 1}
        declared = {**self.can.model_dump(), **design, "as_of": self.can.as_of == "writes"}
        return declared[requirement] not in (False, "none", ())

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of messages of the first and the second conversation; with a single space, the second is 0."""
        first, second = self._sizes if self.can.models == "none" else SIZES_WITH_MODELS
        return first, 0 if self.can.spaces == 1 else second

    @property
    def large(self) -> int:
        """A k above the number of messages."""
        return self.sizes[0] + 50

    async def space(self, name: str) -> str:
        """Create an empty space, and return its name."""
        full = f"{self.run_name}/{name}"
        await self.reset(full)
        return full

    async def reset(self, space: str) -> None:
        """Create or empty a space. The oldest one is closed if the memory allows no more."""
        while space not in self.written and 0 < self.can.spaces <= len(self.written):
            oldest = next(iter(self.written))
            del self.written[oldest]
            await self.connection.close(oldest)
        self.written[space] = 0
        await self.connection.reset(space)

    def next_write(self, space: str) -> int:
        """Count a write, or a request to forget, and return its number in the space."""
        self.written[space] += 1
        return self.written[space]

    async def write(self, space: str, *messages: Message) -> None:
        """Write messages as runs do. Raises Finding if the memory reports failures."""
        sent = [sent_message(message, self.can) for message in messages]
        answer = await self.connection.write(space, self.next_write(space), sent)
        if answer.failures:
            raise Finding(f"a write to space {space} failed: {answer.failures[0].why}")

    async def write_text(self, space: str, number: int, text: str) -> None:
        """Write a message of a role that the memory stores."""
        day = OLD_DATES[(number - 1) % len(OLD_DATES)]
        await self.write(space, Message(f"check-{number}", self.can.design.roles[0], text, None, day))

    async def two_secrets(self, name: str) -> str:
        """Create a space with two messages, in two writes."""
        space = await self.space(name)
        for number, text in enumerate(SECRETS, 1):
            await self.write_text(space, number, text)
        return space

    async def read(self, space: str, query: str, k: int = K, as_of: int | None = None) -> Sequence[WireItem]:
        """Return the items of a read, or its notes as one item."""
        answer = await self.connection.read(space, query, k, as_of=as_of)
        if answer.notes and not answer.items:
            return (WireItem(id="notes", text=answer.notes),)
        return answer.items

    async def texts(self, space: str, query: str, as_of: int | None = None) -> list[str]:
        """Return the texts that a read finds."""
        return [item.text for item in await self.read(space, query, K, as_of)]

    async def exported(self, space: str) -> Sequence[WireItem]:
        """Return the export of a space; nothing if the memory has none."""
        return () if self.can.export == "none" else (await self.connection.export(space)).items


@dataclass
class Conversation:
    """What was written to one space, and which messages the items of its reads are from."""

    memory: CheckedMemory
    space: str
    messages: Sequence[CheckMessage]
    writes: dict[Message, int] = field(default_factory=dict)
    """The number of the write of each message that was written."""
    failed: dict[Message, str] = field(default_factory=dict)
    """The messages whose write failed, and why."""
    items: dict[str, WireItem] = field(default_factory=dict)
    """All items that reads returned, by their text and sources."""
    errors: list[str] = field(default_factory=list)
    """The errors that the memory reported at reads."""
    found: set[CheckMessage] = field(default_factory=set)
    """The messages that reads for everything, or with their own words, returned."""
    stored: set[CheckMessage] = field(default_factory=set)
    """Those, and the ones of the export."""

    async def play(self, messages: Sequence[CheckMessage]) -> None:
        """Write messages as runs do."""
        can = self.memory.can
        size: Literal["message", "pair"] = "pair" if can.models == "none" else "message"
        parts = cut_writes(messages, size if can.batch == "any" else can.batch)
        for number, part in enumerate(parts, max(self.writes.values(), default=0) + 1):
            self.writes |= dict.fromkeys(part, number)
            try:
                await self.memory.write(self.space, *part)
            except (Finding, ServerFailed) as failed:
                self.failed |= dict.fromkeys(part, str(failed))

    def expected(self, among: set[CheckMessage] | None = None) -> list[CheckMessage]:
        """Return the messages that the memory has by its design, perhaps only some."""
        design = self.memory.can.design
        messages = [message for message in self.messages if message.role in design.roles]
        messages = messages[-design.window :] if design.window else messages
        return [message for message in messages if among is None or message in among]

    async def read(self, query: str, k: int = K, as_of: int | None = None) -> Sequence[WireItem]:
        """Return the items of a read, and record them."""
        items = await self.memory.read(self.space, query, k, as_of)
        if as_of is None:
            self.items |= {f"{item.text}\n{item.sources}": item for item in items}
        return items

    async def finds(self, message: CheckMessage, query: str, k: int) -> bool:
        """Return whether a read finds a message. An error that the memory reports is recorded."""
        try:
            return message in self.seen(await self.read(query, k))
        except ReportedError as failed:
            self.errors.append(str(failed))
            return False

    async def known_items(self) -> list[tuple[WireItem, set[CheckMessage]]]:
        """Return (item, messages) for all items of reads and of the export: the messages whose words it contains."""
        items = [*self.items.values(), *await self.memory.exported(self.space)]
        return [(item, self.seen([item])) for item in items]

    def seen(self, items: Iterable[WireItem]) -> set[CheckMessage]:
        """Return the messages whose words items contain."""
        words = set().union(*(words_of(item.text) for item in items))
        return {self._of_word[word] for word in words & self._of_word.keys()}

    @cached_property
    def _of_word(self) -> dict[str, CheckMessage]:
        return {word: message for message in self.messages for word in message.words}

    def describe(self, messages: Sequence[CheckMessage], fine: set[CheckMessage]) -> str:
        """Return which messages are not among those that are fine, in words."""
        traits = [
            ({**message.traits(message.text), "write": self.writes.get(message, 0)}, message in fine)
            for message in messages
        ]
        lost = [message for message in messages if message not in fine]
        return (
            concentration(traits, PHRASES["message"], side=3)
            or f"{len(lost)} messages of all kinds, such as {lost[0].text[:60]!r}"
        )


def difference(first: Iterable[str], second: Iterable[str]) -> str:
    """Return the first item in which the texts of two reads differ, in words; an empty text if they are equal."""
    for place, texts in enumerate(zip_longest(first, second), 1):
        if texts[0] != texts[1]:
            one, other = ("missing" if text is None else f"{text[:60]!r}" for text in texts)
            return f"item {place} is {one} in one read and {other} in the other"
    return ""


def contains(texts: Iterable[str], part: str) -> bool:
    """Return whether a text contains `part`."""
    return any(part in text for text in texts)
