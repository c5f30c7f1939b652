"""Helpers for tests of memories: messages, writes as the player makes them, and three trivial memories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from memflow.chat.requests import ChatRequest, Completion
from memflow.chat.scripted import ScriptedChat
from memflow.memories.entries import EntryStore, Vector
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


class RecordingChat(ScriptedChat):
    """The scripted handlers of a memory, some replaced by `answers`: a handler or a fixed answer per prompt stem."""

    def __init__(self, memory: type[Memory], answers: Mapping[str, Any]) -> None:
        self.folder = memory.package().rpartition(".")[2]
        given = {
            f"{self.folder}/{stem}": each if callable(each) else lambda request, each=each: each
            for stem, each in answers.items()
        }
        super().__init__({**memory.handlers(), **given})
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        return await super().complete(request)


class RecordingEmbedder(HashingEmbedder):
    """The hashing embedder; `batches` has the texts of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    async def embed(self, texts: Sequence[str], input_type: str | None = None) -> Vector:
        self.batches.append(list(texts))
        return await super().embed(texts)


def build(
    memory: type[T], answers: Mapping[str, Any] | None = None, embedder: Any = None, **parameters: Any
) -> T:
    """Return a memory with a RecordingChat and an embedder that records its calls unless one is given."""
    tools = Tools(RecordingChat(memory, answers or {}), embedder or RecordingEmbedder())
    return memory(EntryStore(), tools, **parameters)


def requests(memory: Memory, stem: str = "") -> list[ChatRequest]:
    """Return the requests that a memory of `build` made, optionally those of one prompt."""
    chat = memory.tools.chat
    assert isinstance(chat, RecordingChat)
    return [each for each in chat.requests if stem in ("", each.prompt.removeprefix(f"{chat.folder}/"))]


def sources(memory: Memory, *kinds: str) -> list[tuple[str, ...]]:
    """Return the sources of each live entry of these kinds."""
    return [item.sources for item in memory.store.live(*kinds)]


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
    """A memory that stores at most `places` messages. A new message replaces the oldest."""

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
