"""The checks of memories in Python: state outside the store, reads that write, clocks, random numbers.

The checks of the conversation are those of memory servers: test_planted_faults.py.
"""

import datetime
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from memflow.memories.design import Design
from memflow.memories.memory import Memory, Message, Recall
from memflow.resources.memory_servers.check_lines import CheckLine
from memflow.resources.memory_servers.server_checks import check_python

SERVICE: dict[str, list[str]] = {}
NUMBERS = itertools.count()


@dataclass
class Lines(Memory):
    """Keeps messages as entries, and recalls all of them."""

    ranks_entries = False

    async def write(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.store.add("line", self.text_of(message), sources=self.sources_of(message))

    async def read(self, query: str, frozen: bool = True) -> Recall:
        entries = tuple(self.store.live("line"))
        return Recall(notes="\n".join(item.text for item in entries), entries=entries)

    def text_of(self, message: Message) -> str:
        return message.text

    def sources_of(self, message: Message) -> list[str]:
        return [message.message_id]


class SharedService(Lines):
    """Reads from a service that all of its instances share."""

    async def write(self, messages: Sequence[Message]) -> None:
        await super().write(messages)
        SERVICE.setdefault("all", []).extend(message.text for message in messages)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return Recall(notes="\n".join(SERVICE.get("all", [])))


@dataclass
class OwnList(Lines):
    """Keeps a list of its own beside the store."""

    texts: list[str] = field(default_factory=list)

    async def write(self, messages: Sequence[Message]) -> None:
        await super().write(messages)
        self.texts += [message.text for message in messages]

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return Recall(notes="\n".join(self.texts))


class Counting(Lines):
    """Records its reads."""

    async def read(self, query: str, frozen: bool = True) -> Recall:
        self.store.add("read", query, sources=())
        return await super().read(query, frozen)


class Numbered(Lines):
    """Adds a number that differs in every run."""

    def text_of(self, message: Message) -> str:
        return f"{next(NUMBERS)} {message.text}"


class Clocked(Lines):
    """Dates messages by the clock."""

    def text_of(self, message: Message) -> str:
        return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d} {message.text}"


class Invented(Lines):
    """Names sources that do not exist."""

    def sources_of(self, message: Message) -> list[str]:
        return ["invented"]


class Failing(Lines):
    """Cannot write."""

    async def write(self, messages: Sequence[Message]) -> None:
        raise KeyError("no such index")


class Dropping(Lines):
    """Stores 20 messages."""

    async def write(self, messages: Sequence[Message]) -> None:
        await super().write([message for message in messages if len(self.store.live("line")) < 20])


class UserOnly(Lines):
    """Stores the messages of the user."""

    async def write(self, messages: Sequence[Message]) -> None:
        await super().write([message for message in messages if message.role == "user"])


class Declared(UserOnly):
    """Declares what it stores."""

    design = Design(roles=("user",))  # type: ignore[assignment]


class Raising(Lines):
    """Raises for digits."""

    async def write(self, messages: Sequence[Message]) -> None:
        if any(letter.isdigit() for message in messages for letter in message.text):
            raise ValueError("cannot parse a number")
        await super().write(messages)


async def lines_of(memory: type[Memory]) -> dict[str, CheckLine]:
    """Return the lines of a memory by name."""
    return {line.check: line for line in await check_python(memory, sizes=(60, 20))}


@pytest.mark.parametrize(
    ("memory", "line", "part"),
    [
        (SharedService, "spaces", "/spaces-2"),
        (OwnList, "fork", "a fork differs from a read of its origin"),
        (Counting, "read", "changed the store"),
        (Numbered, "deterministic", "return different items"),
        (Clocked, "clock", "today's date"),
        (Invented, "sources", "never sent: invented"),
        (Failing, "write", "KeyError: 'no such index'"),
        (Dropping, "complete", "stored 20 of 60 messages: lost are 40 of 40 messages after write 10"),
        (UserOnly, "complete", "30 of 30 messages of the assistant"),
        (Raising, "conversation", "the memory raised ValueError: cannot parse a number"),
    ],
)
async def test_fault_of_a_memory_is_found_by_its_line(memory: type[Memory], line: str, part: str) -> None:
    lines = await lines_of(memory)
    assert (lines[line].verdict, part in lines[line].found) == ("wrong", True), lines[line].found


@pytest.mark.parametrize("memory", [Lines, Declared])
async def test_memory_without_a_fault_has_no_wrong_line(memory: type[Memory]) -> None:
    lines = await lines_of(memory)
    assert {name for name, line in lines.items() if line.verdict not in ("ok", "skipped")} == set()
