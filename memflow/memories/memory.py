"""The Memory protocol: what a memory system is given, and what it gives back.

A memory is written to with messages that arrived together (a round, a session, a document) and read with a
query. Its whole state is its EntryStore. It gets a chat model and an embedder as tools, and no clock, no
file, no gold.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt, all_prompts, has_prompts, load
from memflow.chat.requests import Chat, ChatMessage
from memflow.chat.scripted import Handler
from memflow.errors import BadInput, BadSettings, RecallFailed
from memflow.memories.entries import EntryStore, Item, Vector


@dataclass(frozen=True, slots=True)
class Message:
    """A message as a memory sees it. There is no field for gold, so none can reach it."""

    message_id: str
    role: Literal["user", "assistant"]
    text: str
    speaker: str | None = None
    sent_at: str | None = None

    def line(self) -> str:
        """`Caroline: Hey Mel!`: the message with whoever says it, for notes and for search."""
        return f"{self.speaker or self.role}: {self.text}"


@dataclass(frozen=True, slots=True)
class Recall:
    """What a memory gives for a query.

    `notes` is text for the prompt; `messages` are verbatim turns to stand before the question. `entries` are
    those that either came from, best first: what was found for the query, then what always goes along. `ranking` is
    their order where a budget left some of those found out: these stand in it too. Tokens are estimates of
    `tokens.estimate`.
    """

    notes: str = ""
    messages: tuple[ChatMessage, ...] = ()
    entries: tuple[Item, ...] = ()
    injected_tokens: int = 0
    dropped_tokens: int = 0
    ranking: tuple[Item, ...] | None = None

    @property
    def ranked(self) -> tuple[Item, ...]:
        """The entries best first, whatever a budget let through."""
        return self.entries if self.ranking is None else self.ranking

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the messages that the recalled entries came from, in order, once each."""
        return tuple(dict.fromkeys(source for item in self.entries for source in item.sources))


class Embedder(Protocol):
    """Texts to unit vectors."""

    fingerprint: str
    dimensions: int

    async def embed(self, texts: Sequence[str]) -> Vector:
        """An array of shape (len(texts), dimensions), float32, rows of length 1."""
        ...


@dataclass(frozen=True)
class Tools:
    """What a memory may use: a chat model for what it writes agentically, and an embedder."""

    chat: Chat | None = None
    embedder: Embedder | None = None


FAILURE = "failure"
"""Kind of the entries that say what a memory failed to write, and why."""
DATE = "date"
"""Kind of the entries that date messages kept word for word (verbatim.py)."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Requests that one write and one read make at most: to the chat model, and to the embedder.

    A write is counted `per` arrival, of however many messages, per message of it, or per round of two of
    them. Attempts after an answer that did not parse are not counted.
    """

    chat_write: int = 0
    chat_read: int = 0
    embed_write: int = 0
    embed_read: int = 0
    per: Literal["arrival", "message", "round"] = "arrival"


@dataclass(frozen=True, slots=True)
class Ask:
    """A question of a write to the chat model: what `Memory.ask` takes, for several at once."""

    stem: str
    fields: Mapping[str, Any]
    sources: Iterable[str] = ()
    check: Callable[[Any], str | None] | None = None


def parameter(
    default: Any,
    description: str,
    *,
    low: float = 0,
    high: float | None = None,
    choices: Sequence[str] = (),
) -> Any:
    """A field of a Memory that is one of its parameters: a number, a word, or a tuple of words.

    A number is at least `low`, and at most `high` where that is given; a word is one of `choices`, where there
    are any.
    """
    bounds = {"low": low, "high": high, "choices": tuple(choices)}
    return field(default=default, metadata={"description": description, **bounds})


@dataclass
class Memory(ABC):
    """A memory system in one episode. A dataclass whose fields made by `parameter` are its parameters."""

    store: EntryStore = field(default_factory=EntryStore, repr=False)
    tools: Tools = field(default_factory=Tools, repr=False)

    plays: ClassVar[bool] = True
    """False for a memory that nothing is ever written to: its episodes need no playing."""
    recalls: ClassVar[bool] = True
    """False where nothing is recalled (none, oracle): it has no attribution."""
    ranks: ClassVar[bool] = True
    """False where what is recalled answers to no query, so that nothing of it is best: it has no recall@10."""
    calls: ClassVar[Calls] = Calls()
    """What it asks of the tools: for plans, and to refuse early where a tool is missing."""
    version: ClassVar[int] = 1
    """Part of its fingerprint: raise it when what it writes or recalls changes."""
    asks: ClassVar[tuple[str, ...]] = ()
    """The prompts it asks, by their stems, where they are not all of its package's prompts folder."""
    requires: ClassVar[str] = ""
    """The package that it cannot do without beyond our own, as pip is told: `mem0ai==1.0.11`."""
    bookkeeping: ClassVar[frozenset[str]] = frozenset({FAILURE, DATE})
    """Kinds of entries that are no memory of anything: when something was recalled, what failed."""

    broad: ClassVar[frozenset[str]] = frozenset()
    """Kinds of entries that sum up everything (a global summary): that they came from a message says nothing of
    whether they still hold it, so attribution by evidence passes over them."""

    @abstractmethod
    async def write(self, messages: Sequence[Message]) -> None:
        """Take in messages that arrived together. `store.sequence` has already been moved past them."""

    @abstractmethod
    async def read(self, query: str, frozen: bool = True) -> Recall:
        """What it knows for `query`. `frozen` forbids that reading changes the store: so for probes."""

    async def embed(self, texts: Sequence[str]) -> Vector:
        """The texts' vectors, one a row, by the embedder it was given; no texts, no call."""
        if not texts:
            return np.empty((0, 0), np.float32)
        if self.tools.embedder is None:
            raise BadSettings(f"{type(self).__name__} needs an embedder, and was given none")
        vectors = await self.tools.embedder.embed(texts)
        if len(vectors) != len(texts):
            raise BadInput(f"the embedder gave {len(vectors)} vectors for {len(texts)} texts")
        return vectors

    async def ask(
        self,
        stem: str,
        fields: Mapping[str, Any],
        *,
        sources: Iterable[str] = (),
        check: Callable[[Any], str | None] | None = None,
    ) -> Any:
        """The answer to the prompt `stem` of the prompts folder beside the memory's class, for a write.

        None where no usable answer was to be had: an entry of kind `failure` then says why, and which
        messages (`sources`) it was about. The memory goes on without.
        """
        [value] = await self.ask_all([Ask(stem, fields, sources, check)])
        return value

    async def ask_all(self, asks: Iterable[Ask]) -> list[Any]:
        """The answers to questions that do not wait for one another, asked at once, in the order given.

        Failures are written in that order too, whichever came first: so a replay writes the same entries.
        """
        asks = list(asks)
        answers = await asyncio.gather(
            *(ask(self._chat(), self.prompt(one.stem), one.fields, check=one.check) for one in asks)
        )
        for one, answer in zip(asks, answers, strict=True):
            if answer.value is None:
                self.store.add(FAILURE, answer.reason or "no answer", sources=one.sources)
        return [answer.value for answer in answers]

    async def ask_to_read(
        self, stem: str, fields: Mapping[str, Any], *, check: Callable[[Any], str | None] | None = None
    ) -> Any:
        """The same for a read, which may not write: raises RecallFailed, and the probe's reply says why."""
        answer = await ask(self._chat(), self.prompt(stem), fields, check=check)
        if answer.value is None:
            raise RecallFailed(answer.reason or "no answer")
        return answer.value

    @classmethod
    def package(cls) -> str:
        """The package with its prompts folder and its answer types: its own, or that of the nearest base."""
        packages = [base.__module__.rpartition(".")[0] for base in cls.__mro__ if issubclass(base, Memory)]
        return next((package for package in packages if has_prompts(package)), packages[0])

    @classmethod
    def prompt(cls, stem: str) -> Prompt:
        """A prompt of its own: `prompts/<stem>.md` of its package."""
        return load(cls.package(), stem)

    @classmethod
    def prompts(cls) -> list[Prompt]:
        """The prompts that it asks, by name."""
        return [cls.prompt(stem) for stem in cls.asks] if cls.asks else all_prompts(cls.package())

    @classmethod
    def handlers(cls) -> Mapping[str, Handler]:
        """The scripted chat's handlers for its prompts, by prompt name; none, where it asks no chat model."""
        return {}

    def _chat(self) -> Chat:
        if self.tools.chat is None:
            raise BadSettings(f"{type(self).__name__} needs a chat model, and was given none")
        return self.tools.chat
