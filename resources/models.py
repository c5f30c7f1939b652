"""The chat models of the settings by role; every request is recorded in the ledger.

Requests are in chat.py, servers in vllm.py.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.chat.requests import Chat
from memflow.chat.scripted import ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Embedder, Tools
from memflow.run.handlers import handlers
from resources.adapter import load_adapter
from resources.chat import OpenAIChat
from resources.embedder import EndpointEmbedder, FolderEmbedder
from resources.endpoint import Endpoint
from resources.ledger import SqlLedger
from resources.limits import Budget, Prices
from resources.settings import Settings
from resources.settings_sections import Model
from resources.vllm import Adapter, VllmServer

T = TypeVar("T")
Watch = Callable[[RequestContext, int, int], None]
"""Called with the step's context, the number of finished items and the total."""


@dataclass
class Chats:
    """The chats of one event loop, each opened on first use."""

    models: "Models"
    account: RequestContext
    stack: AsyncExitStack
    opened: dict[str, Chat] = field(default_factory=dict)
    ledgered: dict[tuple[str, str], LedgeredChat] = field(default_factory=dict)
    embedding: Embedder | None = None
    done: int = 0
    total: int = 0

    async def role(self, role: str) -> LedgeredChat:
        """Return the chat of `role`, one of the settings' roles."""
        return await self._ledgered(getattr(self.models.settings.roles, role), role)

    async def answering(self, assistant: str) -> LedgeredChat:
        """Return the chat that answers for `assistant`."""
        return await self._ledgered(self.models.settings.model_of(assistant), "assistant")

    async def tools(self, assistant: str) -> Tools:
        """Return the chat and the embedder for the memory of `assistant`."""
        return Tools(
            await self._ledgered(self.models.settings.model_of(assistant), "memory"), await self.embedder()
        )

    async def embedder(self) -> Embedder:
        """Return the embedder of the settings, with open connections."""
        if self.embedding is None:
            self.embedding = self.models.embedder()
            if isinstance(self.embedding, EndpointEmbedder):
                await self.stack.enter_async_context(self.embedding)
        return self.embedding

    def expect(self, total: int) -> Callable[[], None]:
        """Set the number of items of this step, for progress. Return a function to call after each item."""
        self.done, self.total = 0, total

        def tick() -> None:
            self.done += 1
            self.models.watch(self.account, self.done, self.total)

        return tick

    async def _ledgered(self, name: str, role: str) -> LedgeredChat:
        if name not in self.opened:
            self.opened[name] = await self.models.open(name, self.stack)
        if (name, role) not in self.ledgered:
            account = replace(self.account, role=role, model=name)
            self.ledgered[name, role] = LedgeredChat(self.opened[name], self.models.ledger, account)
        return self.ledgered[name, role]


class Models:
    """The models of the settings, which open chats, run asynchronous work, and own the ledger and started servers.

    Call `close` after use.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: SqlLedger,
        budget: Budget | None = None,
        servers: "VllmServers | None" = None,
    ) -> None:
        self.settings = settings
        self.ledger = ledger
        self.budget = budget
        self.watch: Watch = lambda account, done, total: None
        self.servers = servers or VllmServers(settings.models)
        self._answers: dict[str, bool] = {}

    def run(self, account: RequestContext, work: Callable[[Chats], Awaitable[T]]) -> T:
        """Run `work` in a new event loop, close its clients, flush the ledger, and return the result."""

        async def session() -> T:
            async with AsyncExitStack() as stack:
                return await work(Chats(self, account, stack))

        try:
            return asyncio.run(session())
        finally:
            self.ledger.flush()

    async def open(self, name: str, stack: AsyncExitStack) -> Chat:
        """Open the chat of the model `name`, without the ledger."""
        model = self.settings.model(name)
        if model.kind == "scripted":
            return ScriptedChat(
                handlers(self.settings.own_memories()), name=model.fingerprint(), sampling=model.sampling()
            )
        url = model.url if model.kind == "endpoint" else self.servers.url(name)
        chat = OpenAIChat(
            url=url,
            model=model.served_as,
            fingerprint=model.fingerprint(),
            sampling=model.sampling(),
            budget=self.budget,
            prices=Prices(model.price_in, model.price_out),
            endpoint=Endpoint(
                url,
                key_variable=model.key_variable,
                concurrency=model.concurrency,
                patience=model.patience,
                answers=self._answers,
                setting=f"`url` of model {name}",
            ),
        )
        return await stack.enter_async_context(chat)

    def embedder(self) -> Embedder:
        """Return the embedder of the settings, without opening connections."""
        chosen = self.settings.embedder
        if chosen.kind == "endpoint":
            return EndpointEmbedder(chosen.url, chosen.model, self.ledger, key_variable=chosen.key_variable)
        if chosen.kind == "folder":
            return FolderEmbedder(chosen.model)
        return HashingEmbedder(chosen.dimensions)

    def close(self) -> None:
        """Stop the started servers and close the ledger."""
        self.servers.close()
        self.ledger.close()


class VllmServers:
    """The vLLM servers of the settings.

    A server starts when it is first used; closing this object stops all servers.
    """

    def __init__(self, models: Mapping[str, Model]) -> None:
        self._models = models
        self._stack = ExitStack()
        self._urls: dict[str, str] = {}

    def url(self, name: str) -> str:
        """Return the address of a model's server; start the server if necessary."""
        if name not in self._urls:
            model = self._models[name]
            server = VllmServer(
                model=model.model,
                executable=model.executable,
                arguments=model.arguments,
                adapter=_adapter(model),
            )
            self._urls[name] = self._stack.enter_context(server)
        return self._urls[name]

    def close(self) -> None:
        self._stack.close()
        self._urls.clear()


def _adapter(model: Model) -> Adapter | None:
    folder = Path(model.adapter).expanduser()
    return Adapter.of(folder, load_adapter(folder, model.revision)) if model.adapter else None
