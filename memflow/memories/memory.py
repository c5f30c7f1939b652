"""The base class `Memory` of all memory systems, with its input (messages, tools) and its output (Recall).

All state of a memory is in its EntryStore. A memory may use a chat model and an embedder, but no clock, file or gold.
"""

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from memflow.chat.asking import Answer, ask
from memflow.chat.limits import ITEMS, TEXT, ItemCheck, limit_prompt
from memflow.chat.prompts import Prompt, all_prompts, has_prompts, load
from memflow.chat.request_bounds import bound_prompt
from memflow.chat.requests import Chat, ChatMessage
from memflow.chat.scripted import Handler
from memflow.errors import BadInput, BadSettings, CannotForget, RecallFailed
from memflow.memories.design import Design
from memflow.memories.entries import EntryStore, Item, Vector, sources_of
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.server.protocol import Connection
from memflow.tokens import MOST_PER_ESTIMATE, estimate


@dataclass(frozen=True, slots=True)
class Message:
    """A message for a memory. The class has no field for gold, so no gold can reach a memory."""

    message_id: str
    role: Literal["user", "assistant"]
    text: str
    speaker: str | None = None
    sent_at: str | None = None
    caption: str | None = None
    """The end of the text that describes a shared image."""

    def line(self) -> str:
        """Return the message with its speaker's name, such as `Caroline: Hey Mel!`, for notes and search."""
        return f"{self.speaker or self.role}: {self.text}"


@dataclass(frozen=True, slots=True)
class Recall:
    """The result of reading a memory for a query.

    `notes` is text for the prompt; `messages` are chat turns that precede the question. `with_notes` is whether the
    prompt has a place for notes, even if there are none (`read_for_prompt` sets it). `entries` are the entries in notes
    and messages: search results best first, then entries included for every query. If a budget dropped search results,
    `ranking` lists all results. `dropped_messages` is the number of messages that a memory of the whole history
    dropped. Tokens are estimated by `tokens.estimate`. `failed` has the reasons of invalid items in the model's answers
    during the read.
    """

    notes: str = ""
    messages: tuple[ChatMessage, ...] = ()
    entries: tuple[Item, ...] = ()
    injected_tokens: int = 0
    dropped_tokens: int = 0
    ranking: tuple[Item, ...] | None = None
    failed: tuple[str, ...] = ()
    with_notes: bool = False
    dropped_messages: int = 0

    @property
    def ranked(self) -> tuple[Item, ...]:
        """The search results, best first, including results that exceeded the budget and were dropped."""
        return self.entries if self.ranking is None else self.ranking

    @property
    def sources(self) -> tuple[str, ...]:
        """The distinct ids of the source messages of the recalled entries, in order."""
        return sources_of(self.entries)


InputType = Literal["query", "passage"]
"""Whether a text is a query, or a passage that queries find. Many models embed the two differently."""


class Embedder(Protocol):
    """The protocol of an embedding model that returns vectors of length 1."""

    fingerprint: str
    dimensions: int

    async def embed(self, texts: Sequence[str], input_type: InputType | None = None) -> Vector:
        """Return a float32 array of shape (len(texts), dimensions) with rows of length 1.

        Without an input type, the texts are embedded as they are: with no prefix, and no parameter of the request.
        """
        ...


@dataclass(frozen=True)
class Tools:
    """The chat model and the embedder that a memory may use, and the context window of the answering model.

    `window` is the number of tokens that a prompt may have; None if it is unknown. `server` is
    the connection to the memory server of an assistant whose memory is one.
    """

    chat: Chat | None = None
    embedder: Embedder | None = None
    window: int | None = None
    server: Connection | None = None


ROOM = 1024
"""Tokens of the context window for the prompt around the query of a probe; the query gets a multiple of it."""
FAILURE = "failure"
"""Kind of the entries that record a failed write, with the reason."""
AT_LIMIT = "at_limit"
"""Kind of the entries that record an answer with a string or list as long as its limit, which may be incomplete."""
DATE = "date"
"""Kind of the entries that date stored messages (verbatim.py)."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The maximum number of requests that one write and one read send to the chat model and to the embedder.

    The limit of a write applies `per` arrival (any number of messages), per message, or per round of two messages.
    Retries after an unparsable answer do not count.
    """

    chat_write: int = 0
    chat_read: int = 0
    embed_write: int = 0
    embed_read: int = 0
    per: Literal["arrival", "message", "round"] = "arrival"


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A request to the chat model: the prompt `prompts/<stem>.md` of the memory's package, with its fields.

    `check_item` returns the error in an item of the answer's lists, which is removed; `check` returns the error in the
    whole answer; both return None for no error. `numbers` has the maximum of the integers of a property, and of the
    items of a list, by the property's name; `about` names the fields with the material that bounds the answer, by
    default all. `sources` and `loss`, the loss without a usable answer, are recorded with a failure.
    """

    stem: str
    fields: Mapping[str, Any]
    sources: Iterable[str] = ()
    check_item: ItemCheck | None = None
    check: Callable[[Any], str | None] | None = None
    loss: str = ""
    numbers: Mapping[str, int] = field(default_factory=dict)
    about: Sequence[str] = ()


def parameter(
    default: Any, description: str, *, low: float = 0, high: float | None = None, choices: Sequence[str] = ()
) -> Any:
    """Return the field of a parameter: a number from `low` to `high`, a word, or a tuple of words from `choices`."""
    bounds = {"low": low, "high": high, "choices": tuple(choices)}
    return field(default=default, metadata={"description": description, **bounds})


@dataclass
class Memory(ABC):
    """A memory system in one episode: a dataclass whose parameters are the fields declared by `parameter`."""

    store: EntryStore = field(default_factory=EntryStore, repr=False)
    tools: Tools = field(default_factory=Tools, repr=False)

    needs_playing: ClassVar[bool] = True
    """False if nothing is ever written to it: its episodes are not played."""
    recalls_entries: ClassVar[bool] = True
    """False if it never recalls an entry (none, oracle): failures cannot be attributed by evidence."""
    ranks_entries: ClassVar[bool] = True
    """False if its recall does not depend on the query: it has no recall@10."""
    recalls_notes: ClassVar[bool] = True
    """False if it recalls chat turns only (full, recent): an AMemGym prompt then has no system message for notes."""
    uses_window: ClassVar[bool] = False
    """True if what it recalls depends on `tools.window`, which is then part of the assistant's fingerprint."""
    calls: ClassVar[Calls] = Calls()
    """The requests it makes, for plans and to reject missing tools early."""
    version: ClassVar[int] = 1
    """Part of its fingerprint: increase it when what it writes or recalls changes."""
    prompt_stems: ClassVar[tuple[str, ...]] = ()
    """The file stems of the prompts it uses; empty for all of its package."""
    requires: ClassVar[str] = ""
    """The distribution it needs beyond memflow's dependencies, as a pip requirement: `mem0ai==1.0.11`."""
    bookkeeping_kinds: ClassVar[frozenset[str]] = frozenset({FAILURE, AT_LIMIT, DATE})
    """Kinds of entries without remembered content: access times, failures, dates."""
    global_kinds: ClassVar[frozenset[str]] = frozenset()
    """Kinds of entries that summarize everything. Their sources do not show that they still contain a message, so
    attribution by evidence ignores them."""
    forgets: ClassVar[frozenset[str]] = frozenset()
    """The forms of requests to forget that it obeys (forgetting.py): `message`, `text`, `time`."""
    cannot_forget: ClassVar[str] = "it has no operation that deletes"
    """Why it obeys none, for tables."""
    derived_kinds: ClassVar[frozenset[str]] = frozenset()
    """Kinds of entries that it keeps when it forgets their sources: summaries, profiles, graphs."""

    @property
    def design(self) -> Design:
        """The declared design of the memory, which its health does not report as a fault.

        A class attribute can replace this property.
        By default, a memory that requests its entries from a model merges messages.
        """
        return Design(merges=self.calls.chat_write > 0)

    def prompt_budget(self, query: str) -> float:
        """Return the estimated tokens of a recall that fit the context window beside a query; infinite if unknown.

        The room for the query is a multiple of ROOM, so that most queries get the same messages, which a server's
        prefix cache then holds. No tokenizer has more tokens than the window for so many estimated tokens.
        """
        if self.tools.window is None:
            return math.inf
        room = self.tools.window - ROOM * (1 + math.ceil(estimate(query) / ROOM))
        return max(0, room // MOST_PER_ESTIMATE)

    @abstractmethod
    async def write(self, messages: Sequence[Message]) -> None:
        """Store messages that arrived together. `store.sequence` already includes them."""

    @abstractmethod
    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the entries recalled for `query`. With `frozen`, as for probes, the read must not change the store."""

    async def forget(self, request: ForgetRequest) -> None:
        """End the current entries that a request names, except of bookkeeping and derived kinds.

        Ended entries stay in the store, for earlier checkpoints. Raises CannotForget for a form that is not in
        `forgets`. A memory that deletes in another way overrides this method.
        """
        if request.by not in self.forgets:
            reason = f"it obeys requests by {', '.join(sorted(self.forgets))}" if self.forgets else ""
            raise CannotForget(f"not forgotten by {request.by}: {reason or self.cannot_forget}")
        exempt = self.bookkeeping_kinds | self.derived_kinds
        exempt = Memory.bookkeeping_kinds if request.is_everything else exempt
        for item in request.matches(self.store.live()):
            if item.kind not in exempt:
                self.store.retire(item.entry_id)

    async def embed(self, texts: Sequence[str], input_type: InputType) -> Vector:
        """Return one vector per text, of shape (len(texts), dimensions). Without texts, no request is made.

        Texts that are compared only with each other, such as queries with earlier queries, get the same `input_type`.
        """
        if not texts:
            return np.empty((0, 0), np.float32)
        if self.tools.embedder is None:
            raise BadSettings(
                f"{type(self).__name__} needs an embedder, but none is configured. Configure one in memflow.toml."
            )
        vectors = await self.tools.embedder.embed(texts, input_type)
        if len(vectors) != len(texts):
            raise BadInput(
                f"the embedder returned {len(vectors)} vectors for {len(texts)} texts. Check its server, then rerun."
            )
        return vectors

    async def ask(self, stem: str, fields: Mapping[str, Any], **options: Any) -> Any:
        """Send a prompt during a write. Return the answer, or None without a usable one, which is recorded.

        `options` are the further fields of PromptRequest.
        """
        [value] = await self.ask_all([PromptRequest(stem, fields, **options)])
        return value

    async def ask_all(self, requests: Iterable[PromptRequest]) -> list[Any]:
        """Send independent requests concurrently. Return the answers in the order of the requests.

        Failures are recorded in the same order, so that a replay writes the same entries.
        """
        requests = list(requests)
        answers = await asyncio.gather(*map(self.request, requests))
        for prompt, answer in zip(requests, answers, strict=True):
            self.record(answer, prompt.sources, prompt.loss)
        return [answer.value for answer in answers]

    async def ask_to_read(
        self, stem: str, fields: Mapping[str, Any], *, failed: list[str] | None = None, **options: Any
    ) -> Any:
        """Send a prompt during a read. Return the answer. `options` are those of `ask`.

        The reasons of failed items are added to `failed`, for the Recall, since a read records no failures. Raises
        RecallFailed without a usable answer.
        """
        answer = await self.request(PromptRequest(stem, fields, **options))
        if answer.value is None:
            raise RecallFailed(
                f"the memory {type(self).__name__} could not recall: {answer.reason}. Rerun the probe."
            )
        if failed is not None:
            failed += answer.failed
        return answer.value

    async def request(self, request: PromptRequest) -> Answer[Any]:
        """Send a prompt, with its output type limited by the memory's parameters and the request; record nothing."""
        prompt = limit_prompt(self.prompt(request.stem), vars(self))
        material = {name: request.fields[name] for name in request.about or request.fields}
        prompt = bound_prompt(prompt, material, request.numbers)
        return await ask(
            self._chat(), prompt, request.fields, check=request.check, check_item=request.check_item
        )

    def record(self, answer: Answer[Any], sources: Iterable[str], loss: str = "") -> None:
        """Add an entry of kind `failure` per failed item or unusable answer, and one for lengths at their limit."""
        sources = tuple(sources)
        unusable = "; ".join(part for part in (answer.reason or "no answer", loss) if part)
        for reason in answer.failed if answer.value is not None else [unusable]:
            self.store.add(FAILURE, reason, sources=sources)
        if answer.at_limit:
            self.store.add(AT_LIMIT, "; ".join(answer.at_limit), sources=sources)

    @classmethod
    def package(cls) -> str:
        """Return the package that contains the memory's prompts: that of the class or of its nearest base class."""
        packages = [base.__module__.rpartition(".")[0] for base in cls.__mro__ if issubclass(base, Memory)]
        return next((package for package in packages if has_prompts(package)), packages[0])

    @classmethod
    def prompt(cls, stem: str) -> Prompt:
        """Return the prompt `prompts/<stem>.md` of the memory's package."""
        return load(cls.package(), stem)

    @classmethod
    def prompts(cls) -> list[Prompt]:
        """Return the prompts that the memory uses, in order of name."""
        return (
            [cls.prompt(stem) for stem in cls.prompt_stems]
            if cls.prompt_stems
            else all_prompts(cls.package())
        )

    @classmethod
    def handlers(cls) -> Mapping[str, Handler]:
        """Return `HANDLERS` of the package's module `scripted`, by prompt name; empty without a chat or this module."""
        package = cls.package()
        uses_chat = cls.calls.chat_write or cls.calls.chat_read
        if not (uses_chat and package) or find_spec(f"{package}.scripted") is None:
            return {}
        handlers: Mapping[str, Handler] = import_module(f"{package}.scripted").HANDLERS
        return handlers

    def _chat(self) -> Chat:
        if self.tools.chat is None:
            raise BadSettings(
                f"{type(self).__name__} needs a chat model, but none is configured. Configure one in memflow.toml."
            )
        return self.tools.chat


async def read_for_prompt(memory: Memory, query: str, frozen: bool = True) -> Recall:
    """Read a memory, and return the recall with `with_notes` set. Raises like `Memory.read`."""
    recall = await memory.read(query, frozen)
    return replace(recall, with_notes=memory.recalls_notes or bool(recall.notes))


@dataclass
class ModelWrittenMemory(Memory):
    """The base class of memories whose entries a chat model writes. Its parameters limit the answers."""

    max_text: int = parameter(
        TEXT.size, "Maximum characters of a text in an answer, against endless answers.", low=1
    )
    max_items: int = parameter(
        ITEMS.size, "Maximum items of a list in an answer, against endless answers.", low=1
    )
