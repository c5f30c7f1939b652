"""The conversation as it was played to a memory: what was written and read, and how its design explains the rest."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import groupby

from memflow.memories.server.protocol import Capabilities, WireItem
from memflow.resources.memory_servers.check_conversation import COMMON, CheckMessage, check_messages
from memflow.resources.memory_servers.check_lines import CheckFailed, check
from memflow.resources.memory_servers.checked_spaces import PythonSpace, ServerSpace
from memflow.resources.memory_servers.concentration import Phrases, concentration
from memflow.resources.memory_servers.conversation_record import CheckedConversation

SIZES = (300, 60)
"""Messages of the conversation, and of the one in another space."""
SIZES_WITH_MODELS = (25, 6)
"""The same for a memory whose writes cost requests to models: one message a write."""
OTHER_WORDS = 100_000
FRESH_READS = 8
"""Messages that are read before and right after their write."""
AT_ONCE = 8
MESSAGE_PHRASES: Phrases = {
    "session": ("messages after session {}", "messages up to session {}"),
    "write": ("messages after write {}", "messages up to write {}"),
    "role": ("messages of the {}", "messages not of the {}"),
    "ascii": ("texts in ASCII", "texts with characters outside ASCII"),
    "script": ("texts in {} script", "texts not in {} script"),
    "digits": ("texts with digits", "texts without digits"),
    "near-duplicate": ("near-duplicates of other messages", "messages that are no near-duplicates"),
    "code": ("texts with code", "texts without code"),
    "length": ("texts of more than {} characters", "texts of at most {} characters"),
}

Space = ServerSpace | PythonSpace


class PlayedConversation:
    """The conversation of one memory, and the one beside it in another space.

    `open_space` creates an empty space with a name. `has_k` is whether a read returns as many items as it is asked for.
    """

    def __init__(
        self,
        open_space: Callable[[str], Awaitable[Space]],
        can: Capabilities,
        late: float,
        sizes: tuple[int, int] = SIZES,
        has_k: bool = True,
    ) -> None:
        self.open_space = open_space
        self.can = can
        self.design = can.design
        self.has_k = has_k
        self.one_space = can.spaces == 1
        self.uses_models = can.models != "none"
        self.sizes = SIZES_WITH_MODELS if self.uses_models else sizes
        self.late = late
        self.read_seconds = list[float]()
        self.write_seconds = list[float]()
        self.found_late: list[float] = []
        self.stale: list[str] = []
        self.fresh = 0
        self.seen: set[int] = set()
        """The messages that reads for everything, or with their own words, returned."""
        self.kept: set[int] = set()
        """Those, and the ones of the export."""

    @check(
        "Answer each write when it is done, whatever its text.", after=("indexed", "pure_reads", "reused_ids")
    )
    async def conversation(self) -> str:
        """Write the conversations as runs do. Raises CheckFailed if writes fail."""
        first = check_messages(self.sizes[0])
        second = check_messages(0 if self.one_space else self.sizes[1], OTHER_WORDS)
        words = [{word: message for message in part for word in message.words} for part in (first, second)]
        spaces = [
            await self.open_space(f"conversation-{number}") for number in ((1,) if self.one_space else (1, 2))
        ]
        self.main = CheckedConversation(spaces[0], first, words[1], self.read_seconds)
        self.other = CheckedConversation(spaces[-1], second, words[0], self.read_seconds)
        self.large = len(first) + 50
        half = len(first) // 2
        fresh = {len(first) * (number + 1) // (FRESH_READS + 1) for number in range(FRESH_READS)}
        await self._write(self.main, first[:half], fresh)
        await self._write(self.other, second, set())
        await self._write(self.main, first[half:], fresh)
        failed = {**self.main.failed, **self.other.failed}
        if failed:
            traits = [(self._traits(message), message.number not in self.main.failed) for message in first]
            where = concentration(traits, MESSAGE_PHRASES) or f"{len(failed)} messages"
            raise CheckFailed(f"writes failed: {where}: {next(iter(failed.values()))}")
        return (
            f"{len(first)} messages of {first[-1].session} sessions in {self.main.number} writes, and {len(second)} in "
            "another space"
        )

    async def _write(
        self, conversation: CheckedConversation, messages: Sequence[CheckMessage], fresh: set[int]
    ) -> None:
        """Write messages as runs do. Those in `fresh` are read before and after their write."""
        for part in self._cut(messages):
            probe = next((message for message in part if message.number in fresh), None)
            if probe is not None:
                probe = next((message for message in part if message.role in self.design.roles), None)
            if probe is not None:
                await conversation.read(probe.query, 30)
            conversation.number += 1
            began = time.perf_counter()
            try:
                await conversation.space.write([message.sent() for message in part])
            except CheckFailed as failed:
                conversation.failed |= dict.fromkeys((message.number for message in part), str(failed))
            self.write_seconds.append(time.perf_counter() - began)
            conversation.writes |= dict.fromkeys((message.number for message in part), conversation.number)
            if probe is not None and probe.number not in conversation.failed:
                await self._read_fresh(conversation, probe)

    async def _read_fresh(self, conversation: CheckedConversation, message: CheckMessage) -> None:
        """Read a message right after its write: with the query of an earlier read, with another, and again."""
        self.fresh += 1
        k = self.large
        if message.number in conversation.seen(await conversation.read(message.query, k)):
            return
        began = time.perf_counter()
        other = " ".join(reversed(message.words[:2])) + f" {COMMON[0]}"
        by_other = message.number in conversation.seen(await conversation.read(other, k))
        if message.number in conversation.seen(await conversation.read(message.query, k)):
            self.found_late.append(time.perf_counter() - began)
        elif by_other:
            self.stale.append(message.query)
        elif len(self.found_late) < 2:  # no need to wait for all of them
            while time.perf_counter() - began < self.late:
                await asyncio.sleep(0.05)
                if message.number in conversation.seen(await conversation.read(message.query, k)):
                    self.found_late.append(time.perf_counter() - began)
                    break

    def _cut(self, messages: Sequence[CheckMessage]) -> list[list[CheckMessage]]:
        batch = self.can.batch
        if batch == "session" and not self.uses_models:
            return [list(part) for _, part in groupby(messages, key=lambda message: message.session)]
        size = 1 if batch == "message" or (self.uses_models and batch != "pair") else 2
        return [list(messages[first : first + size]) for first in range(0, len(messages), size)]

    def expected(self) -> list[CheckMessage]:
        """Return the messages that the memory has by its design."""
        design = self.design
        messages = [message for message in self.main.messages if message.role in design.roles]
        return messages[-design.window :] if design.window else messages

    def of_design(self) -> str:
        """Return what the declared design limits the messages to, in words."""
        design = self.design
        window = f" of the declared window of {design.window}" if design.window else ""
        return f"{window} of the {design.roles[0]}" if len(design.roles) == 1 else window

    async def known_items(self) -> list[WireItem]:
        """Return the items of all reads and of the export."""
        stored = await self.main.space.stored()
        return [*self.main.items.values(), *(stored or ())]

    async def find_all(self, messages: Sequence[CheckMessage]) -> list[bool]:
        """Return which messages are found by their own words."""
        running = asyncio.Semaphore(AT_ONCE)

        async def find(message: CheckMessage) -> bool:
            async with running:
                return await self.main.finds(message, message.query, self.large)

        return await asyncio.gather(*map(find, messages))

    def place(self, message: CheckMessage, items: Sequence[WireItem]) -> tuple[int, int] | None:
        """Return the place of a message among items, and their number; None if it is not there."""
        for place, item in enumerate(items):
            if message.number in self.main.of_item(item):
                return place, len(items)
        return None

    def source(self, number: int) -> str:
        """Return the source that an item with words of a message should name."""
        return f"check-{number}" if self.can.sources == "message" else str(self.main.writes[number])

    def describe(self, messages: Sequence[CheckMessage], kept: Iterable[int]) -> str:
        """Return which messages are lost, in words."""
        kept = set(kept)
        where = concentration(
            [(self._traits(each), each.number in kept) for each in messages], MESSAGE_PHRASES
        )
        lost = [each for each in messages if each.number not in kept]
        return where or f"{len(lost)} messages of all kinds, such as {lost[0].text[:60]!r}"

    def _traits(self, message: CheckMessage) -> Mapping[str, int | str | bool]:
        return {
            "write": self.main.writes.get(message.number, 0),
            "session": message.session,
            "role": message.role,
            "ascii": message.text.isascii(),
            "script": message.script,
            "digits": any(letter.isdigit() for letter in message.text),
            "near-duplicate": message.kind == "duplicate",
            "code": message.kind == "code",
            "length": len(message.text),
        }
