"""The access of one memory server to memflow's models: its key, addresses and variables, and its connection.

server.py answers the requests. clients.py opens an access for each partition.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from memflow.chat.ledger import LedgeredChat
from memflow.errors import MemflowError
from memflow.memories.memory import Embedder
from memflow.memories.server.protocol import (
    Connection,
    Endpoint,
    Exported,
    Found,
    Hello,
    SentMessage,
    WireItem,
    Written,
)


@dataclass(eq=False)
class ModelAccess:
    """The models that the server of one partition may use, and the key that identifies its requests."""

    chat: LedgeredChat
    chat_model: str
    embedder: Embedder | None = None
    """None if the settings choose no embedder."""
    embedding_model: str = ""
    key: str = field(default_factory=lambda: f"memflow-{secrets.token_urlsafe(32)}", repr=False)
    requests: int = 0
    """The number of requests, including those that the ledger answered."""
    failure: MemflowError | None = None
    """The error after which every further request would fail, such as a spent budget."""

    def endpoints(self, url: str) -> dict[str, Endpoint]:
        """Return the addresses for `hello`."""
        found = {"chat": Endpoint(url=url, model=self.chat_model, key=self.key)}
        if self.embedder is not None:
            found["embed"] = Endpoint(url=url, model=self.embedding_model, key=self.key)
        return found

    def variables(self, url: str) -> dict[str, str]:
        """Return the environment variables for a server that memflow starts.

        OpenAI's clients, and libraries that use them, read the last two.
        """
        models = {"MEMFLOW_CHAT_MODEL": self.chat_model, "MEMFLOW_EMBEDDING_MODEL": self.embedding_model}
        given = {name: value for name, value in models.items() if value}
        addresses = {"MEMFLOW_MODEL_URL": url, "MEMFLOW_MODEL_KEY": self.key}
        return {**addresses, **given, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": self.key}


class GuardedConnection:
    """A connection to a memory server that raises the fatal error of the server's model requests.

    The server reports such an error as a failure of its own. Without this class, a run would continue after its budget
    is spent, and every further write would fail.
    """

    def __init__(self, inner: Connection, access: ModelAccess) -> None:
        self.inner = inner
        self.access = access
        self._hello: Hello | None = None
        self._wrote = False

    @property
    def unused_models(self) -> bool:
        """Whether the server declared that it uses the given models, and did not although it was written to."""
        declared = self._hello is not None and self._hello.can.models == "given"
        return declared and self._wrote and not self.access.requests

    async def hello(self) -> Hello:
        """Return the server's answer to `hello`."""
        self._hello = await self.inner.hello()
        return self._hello

    async def reset(self, space: str) -> None:
        """Empty a space, or create it."""
        await self.inner.reset(space)

    async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> Written:
        """Write messages to a space."""
        self._wrote = True
        try:
            return await self.inner.write(space, write, messages)
        finally:
            self._require_models()

    async def read(
        self, space: str, query: str, k: int, *, asked_at: str | None = None, as_of: int | None = None
    ) -> Found:
        """Return at most `k` items for a query."""
        try:
            return await self.inner.read(space, query, k, asked_at=asked_at, as_of=as_of)
        finally:
            self._require_models()

    async def export(self, space: str) -> Exported:
        """Return all items of a space."""
        return await self.inner.export(space)

    async def fork(self, space: str, to: str) -> None:
        """Copy a space."""
        await self.inner.fork(space, to)

    async def restore(self, space: str, items: Sequence[WireItem]) -> None:
        """Fill an empty space with items, without a model."""
        try:
            await self.inner.restore(space, items)
        finally:
            self._require_models()

    async def close(self, space: str) -> None:
        """Delete a space that is not used any more."""
        await self.inner.close(space)

    def _require_models(self) -> None:
        if self.access.failure is not None:
            raise self.access.failure
