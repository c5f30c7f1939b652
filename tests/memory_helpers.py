"""Helpers for tests of memories: messages, writes as the player makes them, and three trivial memories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from memflow.chat.scripted import ScriptedChat
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Memory, Message, Recall, Tools, parameter
from memflow.memories.notes import recalled
from memflow.memories.systems import System

T = TypeVar("T", bound=Memory)


def case(system: System, value: Any = None) -> Any:
    """Return a test case of a system (or `value`) that is skipped if a package it needs is missing."""
    skip = pytest.mark.skipif(
        bool(system.missing_requirement), reason=f"{system.name} needs {system.missing_requirement}"
    )
    return pytest.param(value or system, marks=skip, id=system.name)


def said(*texts: str, first: int = 0, sent_at: str | None = None) -> list[Message]:
    """Return user messages with the ids m<first>, m<first + 1>, ..."""
    return [Message(f"m{first + at}", "user", text, sent_at=sent_at) for at, text in enumerate(texts)]


def build(memory: type[T], handlers: Mapping[str, Any] | None = None, **parameters: Any) -> T:
    """Return a memory with the hashing embedder and a scripted chat: its own handlers, or those given."""
    chat = ScriptedChat(memory.handlers() if handlers is None else handlers)
    return memory(EntryStore(), Tools(chat, HashingEmbedder()), **parameters)


async def give(memory: Memory, messages: Sequence[Message]) -> None:
    """Write messages that arrive together and need no reply."""
    memory.store.advance(len(messages))
    await memory.write(messages)


@dataclass
class Perfect(Memory):
    """A memory that keeps every message and recalls all of them."""

    async def write(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.store.add("line", message.line(), sources=[message.message_id])

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return recalled(self.store.live("line"))


@dataclass
class Overwriting(Perfect):
    """A memory that forgets: each message beyond `places` replaces the oldest."""

    places: int = parameter(2, "How many messages it holds.", low=1)

    async def write(self, messages: Sequence[Message]) -> None:
        await super().write(messages)
        for item in self.store.live("line")[: -self.places]:
            self.store.retire(item.entry_id)


@dataclass
class Ignoring(Perfect):
    """A memory that learns nothing new: it keeps the first `lines` messages only."""

    lines: int = parameter(2, "How many messages it keeps.", low=1)

    async def write(self, messages: Sequence[Message]) -> None:
        room = max(0, self.lines - len(self.store.live("line")))
        await super().write(messages[:room])
