"""The protocol between memflow and a memory server: operations, capabilities and the content of each answer.

A memory server is a program of any language that reads and writes JSON objects. A space is the memory of one episode.
This module contains the messages; the transports are in resources/memory_servers, and the memory that uses them is in
memory.py.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from memflow.memories.design import Design
from memflow.memories.forgetting import ForgetRequest

PROTOCOL = 1
"""The version of the protocol."""
LONGEST_LINE = 16 * 1024 * 1024
"""The maximum size of one JSON line, or of one HTTP body, in bytes."""
MAX_ITEMS = 100_000
"""The maximum number of items in one answer."""

Text = Annotated[str, Field(max_length=1_000_000)]
Name = Annotated[str, Field(max_length=500)]
MessageId = Annotated[str, Field(max_length=2000)]
"""The id of a message, from the data, or the number of a write."""


class Wire(BaseModel):
    """The base class of all messages. Unknown keys are ignored, so that either side may be newer."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Capabilities(Wire):
    """The capabilities that a server declares in its answer to `hello` (key `can`)."""

    as_of: Literal["none", "writes", "dates"] = "none"
    """Whether `read` can be answered as of an earlier write, or only filtered by date."""
    fork: bool = False
    restore: bool = False
    export: Literal["none", "live", "history"] = "none"
    sources: Literal["none", "write", "message"] = "none"
    """Whether items name the messages, or the writes, that they come from."""
    dates: bool = False
    """Whether the server uses `sent_at`. If not, the date is put before the text of each message."""
    pure_reads: bool = True
    """Whether a read leaves the memory unchanged."""
    ranked: bool = True
    """Whether the items of a read are ordered by relevance."""
    batch: Literal["message", "pair", "session", "any"] = "any"
    """The messages of one write: one, two, those of one session, or any number."""
    spaces: Annotated[int, Field(ge=0, le=100_000)] = 0
    """The maximum number of spaces used concurrently; 0 for any number."""
    models: Literal["own", "given", "none"] = "own"
    """Whether it calls models at its own addresses, at the endpoints of `hello`, or not at all."""
    deterministic: bool = False
    forget: tuple[Literal["message", "text", "time"], ...] = ()
    """The forms of requests that `forget` obeys."""
    design: Design = Design()
    """What the memory does on purpose: a window, one role, few items, merging, a threshold."""


class Endpoint(Wire):
    """An OpenAI-compatible address and the name of a model, for a server that uses given models."""

    url: Name
    model: Name
    key: Name = "memflow"


class Hello(Wire):
    """The answer to `hello`: name, version, settings and capabilities. It is part of the assistant's fingerprint."""

    name: Name
    version: Name
    settings: Mapping[str, Any] = Field(default_factory=dict)
    can: Capabilities = Capabilities()


class SentMessage(Wire):
    """A message of a dialogue, as sent with `write`. It has no field for gold."""

    id: MessageId
    role: Literal["user", "assistant"]
    text: str
    speaker: str | None = None
    sent_at: str | None = None


class WriteFailure(Wire):
    """Something that the server could not store, with the ids of the messages concerned."""

    why: Text
    sources: Annotated[tuple[MessageId, ...], Field(max_length=MAX_ITEMS)] = ()


class WriteAnswer(Wire):
    """The answer to `write`. It is sent only when `read` finds what was written."""

    failures: Annotated[tuple[WriteFailure, ...], Field(max_length=MAX_ITEMS)] = ()
    counts: Mapping[str, float] = Field(default_factory=dict)
    extracted: Annotated[tuple[Text, ...], Field(max_length=MAX_ITEMS)] | None = None
    """What this write made the memory remember, as texts; by default the difference of its exports counts."""


class WireItem(Wire):
    """A remembered item. `sources` are ids of messages, or numbers of writes as text, as declared."""

    id: Name
    text: Text
    score: float | None = Field(None, allow_inf_nan=False)
    sources: Annotated[tuple[MessageId, ...], Field(max_length=MAX_ITEMS)] = ()
    sent_at: Name | None = None
    kind: Name = "memory"
    since: Annotated[int, Field(ge=0)] | None = None
    until: Annotated[int, Field(ge=0)] | None = None
    previous: Name | None = None


class ReadAnswer(Wire):
    """The answer to `read`. `notes` is used only if there are no items."""

    items: Annotated[tuple[WireItem, ...], Field(max_length=MAX_ITEMS)] = ()
    notes: Text = ""


class ExportAnswer(Wire):
    """The answer to `export`: all items that the space contains now."""

    items: Annotated[tuple[WireItem, ...], Field(max_length=MAX_ITEMS)] = ()


class Connection(Protocol):
    """A connection to one running memory server. One connection serves all episodes of a partition.

    Each method raises ServerFailed for a request that failed, and ServerDown if the server is gone for good. A crashed
    or hung server is started again once; the connection then calls `reset` and sends the space's writes again before
    it repeats the request (a server with `restore` or a lost fork is the memory's concern, not the connection's).
    """

    async def hello(self) -> Hello:
        """Return the server's answer to `hello`, which is requested once per start."""

    async def reset(self, space: str) -> None:
        """Empty a space, or create it."""

    async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> WriteAnswer:
        """Write messages to a space. `write` is the number of the write in this space, from 1."""

    async def read(
        self, space: str, query: str, k: int, *, asked_at: str | None = None, as_of: int | None = None
    ) -> ReadAnswer:
        """Return at most `k` items for a query; with `as_of`, as of the end of the write with this number."""

    async def export(self, space: str) -> ExportAnswer:
        """Return all items of a space."""

    async def forget(self, space: str, write: int, request: ForgetRequest) -> WriteAnswer:
        """Delete what a request names. It has a number as a write has: earlier states keep what they had."""

    async def fork(self, space: str, to: str) -> None:
        """Copy a space."""

    async def restore(self, space: str, items: Sequence[WireItem]) -> None:
        """Fill an empty space with items, without a model."""

    async def close(self, space: str) -> None:
        """Delete a space that is not used any more."""
