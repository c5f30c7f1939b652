"""The memory that `memflow memories check` writes to and reads: the spaces of single messages, and the conversation."""

import uuid
from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest

from memflow.errors import ReportedError, ServerFailed
from memflow.memories.memory import Message
from memflow.memories.server.batches import sent_message
from memflow.memories.server.protocol import (
    Capabilities,
    Connection,
    Hello,
    ReadAnswer,
    SentMessage,
    WireItem,
)
from memflow.resources.memory_servers.check_lines import CheckFailed, CheckSkipped
from memflow.resources.memory_servers.check_messages import (
    OLD_DATES,
    PHRASES,
    SECRETS,
    CheckMessage,
    message,
    words_of,
)
from memflow.resources.memory_servers.concentration import concentration

K = 10
READS = 8
"""Equal reads, to find a random difference: one in two is missed once in 128 checks."""
SIZES = (300, 60)
"""Messages of the conversation, and of the one in another space."""
SIZES_WITH_MODELS = (25, 6)
"""The same for a memory whose writes cost requests to models: one message a write."""


class CheckedMemory:
    """A memory behind a connection, and what the checks wrote to it.

    `late` is the number of seconds that an index may be late before a check stops to look for it. `sizes` are the
    numbers of messages in the conversations of a memory without models. `has_k` is whether a read returns as many items
    as it is asked for.
    """

    other_space, copy_name = "another space", "a fork"
    """What messages call another space, and a copy of one."""

    def __init__(
        self, connection: Connection, late: float, sizes: tuple[int, int] = SIZES, has_k: bool = True
    ) -> None:
        self.connection = connection
        self.late = late
        self._sizes = sizes
        self.has_k = has_k
        self.greeting: Hello | None = None
        self.run_name = f"check-{uuid.uuid4().hex[:12]}"
        self.written: dict[str, int] = {}
        """The number of writes of each open space, oldest first."""
        self.writes = 0
        """Writes of all checks, without those that a restart repeats."""
        self.first = ""
        """The space of the check `write`."""
        self.pair: list[str] = []
        """The spaces of the check `spaces`."""
        self.main = self.other = Conversation(self, "", (), ())
        self.seen: set[int] = set()
        """The messages of the conversation that reads for everything, or with their own words, returned."""
        self.kept: set[int] = set()
        """Those, and the ones of the export."""
        self.is_ranked = False
        """Whether reads return the best item first, as the check `ranked` found."""

    @property
    def can(self) -> Capabilities:
        """The capabilities that the memory declared."""
        assert self.greeting is not None, "the memory was started"
        return self.greeting.can

    @property
    def uses_models(self) -> bool:
        """Whether a write may cost requests to models."""
        return self.can.models != "none"

    @property
    def sizes(self) -> tuple[int, int]:
        """The messages of both conversations."""
        first, second = SIZES_WITH_MODELS if self.uses_models else self._sizes
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

    def need_spaces(self, number: int) -> None:
        """Raise CheckSkipped if the memory allows fewer spaces at once."""
        if 0 < self.can.spaces < number:
            raise CheckSkipped(f"the server declares spaces: {self.can.spaces}")

    def next_write(self, space: str) -> int:
        """Count a write, or a request to forget, and return its number in the space."""
        self.written[space] += 1
        self.writes += 1
        return self.written[space]

    async def write(self, space: str, *messages: SentMessage) -> None:
        """Write messages as runs do. Raises CheckFailed if the memory reports failures."""
        sent = [
            sent_message(Message(each.id, each.role, each.text, None, each.sent_at), self.can)
            for each in messages
        ]
        answer = await self.connection.write(space, self.next_write(space), sent)
        if answer.failures:
            raise CheckFailed(f"a write to space {space} failed: {answer.failures[0].why}")

    def message(self, number: int, text: str) -> SentMessage:
        """Return a message of a role that the memory stores."""
        return message(number, text, self.can.design.roles[0], OLD_DATES[(number - 1) % len(OLD_DATES)])

    async def two_secrets(self, name: str) -> str:
        """Create a space with two messages, in two writes."""
        space = await self.space(name)
        for number, text in enumerate(SECRETS, 1):
            await self.write(space, self.message(number, text))
        return space

    async def texts(self, space: str, query: str, as_of: int | None = None) -> list[str]:
        """Return the texts that a read finds, and the notes."""
        answer = await self.connection.read(space, query, K, as_of=as_of)
        return [*(item.text for item in answer.items), *([answer.notes] if answer.notes else [])]

    async def has(self, space: str, query: str, word: str) -> bool:
        """Return whether a read finds a text with a word, in any case of its letters. A failed read is repeated."""
        for _ in range(READS):
            if contains(map(str.lower, await self.texts(space, query)), word):
                return True
        return False

    def expected(self) -> list[CheckMessage]:
        """Return the messages of the conversation that the memory has by its design."""
        design = self.can.design
        messages = [message for message in self.main.messages if message.role in design.roles]
        return messages[-design.window :] if design.window else messages

    def of_design(self) -> str:
        """Return what the declared design limits the messages to, in words."""
        design = self.can.design
        window = f" of the declared window of {design.window}" if design.window else ""
        return f"{window} of the {design.roles[0]}" if len(design.roles) == 1 else window

    async def stored(self) -> Sequence[WireItem]:
        """Return the export of the conversation; nothing if the memory has none."""
        if self.can.export == "none":
            return ()
        return (await self.connection.export(self.main.space)).items

    async def known_items(self) -> list[WireItem]:
        """Return the items of all reads of the conversation, and of the export."""
        return [*self.main.items.values(), *await self.stored()]

    def source(self, number: int) -> str:
        """Return the source that an item with words of a message should name."""
        return f"check-{number}" if self.can.sources == "message" else str(self.main.writes[number])

    def describe(self, messages: Sequence[CheckMessage], fine: Iterable[int]) -> str:
        """Return which messages are not among the numbers of those that are fine, in words."""
        fine = set(fine)
        traits = [
            ({**each.traits, "write": self.main.writes.get(each.number, 0)}, each.number in fine)
            for each in messages
        ]
        lost = [each for each in messages if each.number not in fine]
        return (
            concentration(traits, PHRASES["message"])
            or f"{len(lost)} messages of all kinds, such as {lost[0].text[:60]!r}"
        )


class Conversation:
    """What was written to one space, and which messages the items of its reads are from.

    The words of `foreign` messages show items of another space.
    """

    def __init__(
        self,
        memory: CheckedMemory,
        space: str,
        messages: Sequence[CheckMessage],
        foreign: Sequence[CheckMessage],
    ) -> None:
        self.memory = memory
        self.space = space
        self.messages = messages
        self.number = 0
        """The number of writes."""
        self.writes: dict[int, int] = {}
        """The number of the write of each message that was written."""
        self.failed: dict[int, str] = {}
        """The messages whose write failed, and why."""
        self.items: dict[str, WireItem] = {}
        """All items that reads returned, by their text and sources."""
        self.reads = 0
        self.leaks: list[str] = []
        """The queries of reads that returned words of another space."""
        self.errors: list[str] = []
        """The errors that the memory reported at reads."""
        self._of_word = {word: message.number for message in messages for word in message.words}
        self._foreign = {word for message in foreign for word in message.words}
        self._words: dict[str, set[str]] = {}

    async def play(self, messages: Sequence[CheckMessage]) -> None:
        """Write messages as runs do."""
        for part in self._cut(messages):
            numbers = [message.number for message in part]
            self.number += 1
            self.writes |= dict.fromkeys(numbers, self.number)
            try:
                sent = [message(each.number, each.text, each.role, each.sent_at) for each in part]
                await self.memory.write(self.space, *sent)
            except (CheckFailed, ServerFailed) as failed:
                self.failed |= dict.fromkeys(numbers, str(failed))

    def _cut(self, messages: Sequence[CheckMessage]) -> list[list[CheckMessage]]:
        batch, uses_models = self.memory.can.batch, self.memory.uses_models
        if batch == "session" and not uses_models:
            return [list(part) for _, part in groupby(messages, key=lambda message: message.session)]
        size = 1 if batch == "message" or (uses_models and batch != "pair") else 2
        return [list(messages[first : first + size]) for first in range(0, len(messages), size)]

    async def read(self, query: str, k: int, as_of: int | None = None) -> Sequence[WireItem]:
        """Return the items of a read, or its notes as one item, and record them."""
        items = items_of(await self.memory.connection.read(self.space, query, k, as_of=as_of))
        self.reads += 1
        if any(self._words_of(item) & self._foreign for item in items):
            self.leaks.append(query)
        if as_of is None:
            self.items |= {f"{item.text}\n{item.sources}": item for item in items}
        return items

    async def finds(self, message: CheckMessage, query: str, k: int) -> bool:
        """Return whether a read finds a message. An error that the memory reports is recorded."""
        try:
            return message.number in self.seen(await self.read(query, k))
        except ReportedError as failed:
            self.errors.append(str(failed))
            return False

    def of_item(self, item: WireItem) -> set[int]:
        """Return the numbers of the messages whose words an item contains."""
        return {self._of_word[word] for word in self._words_of(item) & self._of_word.keys()}

    def seen(self, items: Iterable[WireItem]) -> set[int]:
        """Return the numbers of the messages whose words items contain."""
        return {number for item in items for number in self.of_item(item)}

    def _words_of(self, item: WireItem) -> set[str]:
        if item.text not in self._words:
            self._words[item.text] = words_of(item.text)
        return self._words[item.text]


def items_of(answer: ReadAnswer) -> Sequence[WireItem]:
    """Return the items of a read, or its notes as one item."""
    if answer.notes and not answer.items:
        return (WireItem(id="notes", text=answer.notes),)
    return answer.items


def difference(first: Iterable[str], second: Iterable[str]) -> str:
    """Return the first item in which the texts of two different reads differ, in words."""
    for place, texts in enumerate(zip_longest(first, second), 1):
        if texts[0] != texts[1]:
            one, other = ("missing" if text is None else f"{text[:60]!r}" for text in texts)
            return f"item {place} is {one} in one read and {other} in the other"
    raise ValueError("the reads are equal")


def contains(texts: Iterable[str], part: str) -> bool:
    """Return whether a text contains `part`."""
    return any(part in text for text in texts)
