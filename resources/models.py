"""The chat models of the settings by role; every request is recorded in the ledger.

chat.py sends requests; vllm.py starts servers.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.chat.requests import Chat
from memflow.chat.scripted import ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Embedder, Tools
from memflow.records import Probe
from memflow.run.early_answers import EarlyAnswers
from memflow.run.handlers import handlers
from memflow.shares import WHOLE, Share
from resources.adapter import load_adapter
from resources.chat import OpenAIChat
from resources.embedder import CONCURRENCY, EndpointEmbedder, FolderEmbedder
from resources.endpoint import Endpoint
from resources.event_loop import EventLoopThread, detached
from resources.ledger import SqlLedger
from resources.limits import Budget, Prices
from resources.settings import Settings
from resources.settings_sections import Model
from resources.vllm import Adapter, VllmServer
from resources.workers import Workers

BUSY_S = 0.002
"""Seconds for one iteration of an event loop that has little to do."""
PAUSE_S = 0.01
"""Seconds between two looks at a busy event loop."""

T = TypeVar("T")
Watch = Callable[[RequestContext, int, int], None]
"""Called with the step's context, the number of finished items and the total."""


@dataclass
class Chats:
    """The chat models of one step, by role. Every request is recorded with the step's run, stage and partition."""

    clients: "Clients"
    account: RequestContext
    watch: Watch
    done: int = 0
    total: int = 0
    _ledgered: dict[tuple[str, str], LedgeredChat] = field(default_factory=dict)

    async def role(self, role: str) -> LedgeredChat:
        """Return the chat of `role`, one of the settings' roles."""
        return await self._chat(getattr(self.clients.models.settings.roles, role), role)

    async def answering(self, assistant: str) -> LedgeredChat:
        """Return the chat that answers for `assistant`."""
        return await self._chat(self.clients.models.settings.model_of(assistant), "assistant")

    async def tools(self, assistant: str) -> Tools:
        """Return the chat and the embedder for the memory of `assistant`. Raises like `Settings.check_embedder`."""
        self.clients.models.settings.check_embedder([assistant])
        model = self.clients.models.settings.model_of(assistant)
        return Tools(await self._chat(model, "memory"), await self.embedder())

    async def embedder(self) -> Embedder:
        """Return the embedder of the settings, with open connections."""
        return await self.clients.embedder()

    def of_stage(self, stage: str) -> "Chats":
        """Return the same models for another stage of the partition; requests are recorded under that stage."""
        return Chats(self.clients, replace(self.account, stage=stage), self.watch)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task that may continue after the step. The caller must cancel the task."""
        return detached(work)

    async def idle(self) -> None:
        """Wait until the event loop has little to do. Callers continue one after another."""
        await self.clients.idle()

    def expect(self, total: int) -> Callable[[], None]:
        """Set the number of items of this step, for the progress bar. Return a function to call after each item."""
        self.done, self.total = 0, total

        def tick() -> None:
            self.done += 1
            self.watch(self.account, self.done, self.total)

        return tick

    async def _chat(self, name: str, role: str) -> LedgeredChat:
        chat = await self.clients.chat(name)
        if (name, role) not in self._ledgered:
            account = replace(self.account, role=role, model=name)
            self._ledgered[name, role] = LedgeredChat(chat, self.clients.models.ledger, account)
        return self._ledgered[name, role]


class Clients:
    """The model clients of one event loop: each opens on first use, and all steps on the loop share it."""

    def __init__(self, models: "Models") -> None:
        self.models = models
        self._stack = AsyncExitStack()
        self._opened: dict[str, asyncio.Task[Any]] = {}
        self._idle = asyncio.Lock()

    async def chat(self, name: str) -> Chat:
        """Return the chat of the model `name`, without the ledger."""
        chat: Chat = await self._once(f"model {name}", lambda: self._open_chat(name))
        return chat

    async def embedder(self) -> Embedder:
        """Return the embedder that the settings configure."""
        embedder: Embedder = await self._once("embedder", self._open_embedder)
        return embedder

    async def idle(self) -> None:
        """Wait until one iteration of the event loop takes less than BUSY_S."""
        async with self._idle:
            clock = asyncio.get_running_loop().time
            while True:
                began = clock()
                await asyncio.sleep(0)
                if clock() - began < BUSY_S:
                    return
                await asyncio.sleep(PAUSE_S)

    async def close(self) -> None:
        """Close the connections of all clients."""
        await self._stack.aclose()

    async def _once(self, key: str, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Return the result of `work`, which runs once for concurrent callers, and again after an error."""
        opening = self._opened.get(key)
        if opening is None:
            opening = self._opened[key] = detached(work())
        try:
            # A caller that is cancelled must not cancel the others.
            return await asyncio.shield(opening)
        except Exception:
            self._opened.pop(key, None)
            raise

    async def _open_chat(self, name: str) -> Chat:
        settings = self.models.settings
        model = settings.model(name)
        if model.kind == "scripted":
            return ScriptedChat(
                handlers(settings.own_memories()), name=model.fingerprint(), sampling=model.sampling()
            )
        # Starting a server takes minutes, in which other models are called.
        url = (
            model.url if model.kind == "endpoint" else await asyncio.to_thread(self.models.servers.url, name)
        )
        chat = OpenAIChat(
            url=url,
            model=model.served_as,
            fingerprint=model.fingerprint(),
            sampling=model.sampling(),
            budget=self.models.budget,
            prices=Prices(model.price_in, model.price_out),
            endpoint=Endpoint(
                url,
                key_variable=model.key_variable,
                concurrency=self.models.share.of_limit(model.concurrency),
                patience=model.patience,
                answers=self.models.answers,
                setting=f"`url` of model {name}",
            ),
        )
        return await self._stack.enter_async_context(chat)

    async def _open_embedder(self) -> Embedder:
        chosen = self.models.settings.embedder
        if chosen.kind == "folder":
            return FolderEmbedder(chosen.model)
        if chosen.kind in (None, "hashing"):
            return HashingEmbedder(chosen.dimensions)
        return await self._stack.enter_async_context(
            EndpointEmbedder(
                chosen.url,
                chosen.model,
                self.models.ledger,
                key_variable=chosen.key_variable,
                concurrency=self.models.share.of_limit(CONCURRENCY),
            )
        )


class Models:
    """The models of the settings: runs coroutines that call models, and owns the ledger and started servers.

    Coroutines of several threads share one event loop, one client for each model, and one limit for each address. Close
    this object after use.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: SqlLedger,
        budget: Budget | None = None,
        servers: "VllmServers | None" = None,
        share: Share = WHOLE,
    ) -> None:
        self.settings = settings
        self.ledger = ledger
        self.budget = budget
        self.share = share
        """The share of each model's concurrency that this process may use."""
        self.watch: Watch = lambda account, done, total: None
        self.servers = servers or VllmServers(settings.models)
        self.answers: dict[str, bool] = {}
        """Whether each address was reachable at the last request."""
        self.early: dict[str, EarlyAnswers] = {}
        """The early answers of each run that plays."""
        self.workers = Workers(budget, self.servers.url, self.report)
        self._loop = EventLoopThread()
        self._clients: Clients | None = None

    def run(
        self, account: RequestContext, work: Callable[[Chats], Coroutine[Any, Any, T]], *, shared: bool = True
    ) -> T:
        """Run `work`, flush the ledger, and return the result. Raises Interrupted after `interrupt`.

        Work that computes for long and calls no model would delay all requests on the shared event loop. Such work gets
        a separate loop and separate clients.
        """

        async def session() -> T:
            if self._clients is None:
                self._clients = Clients(self)
            return await work(Chats(self._clients, account, self.watch))

        async def own_session() -> T:
            clients = Clients(self)
            try:
                return await work(Chats(clients, account, self.watch))
            finally:
                await clients.close()

        try:
            return self._loop.run(session()) if shared else asyncio.run(own_session())
        finally:
            self.ledger.flush()

    def report(self, account: RequestContext, done: int, total: int) -> None:
        """Report the progress of a step to `watch`."""
        self.watch(account, done, total)

    def early_answers(self, run_id: str, probes: Iterable[Probe]) -> EarlyAnswers:
        """Create and return the early answers of a run, for later use by the step that answers probes."""
        self.early[run_id] = EarlyAnswers(probes)
        return self.early[run_id]

    def end_run(self, run_id: str) -> None:
        """Cancel the requests of a run's early answers that are still running, and delete the early answers."""
        early = self.early.pop(run_id, None)
        if early is not None:
            self._loop.call(early.cancel)
        self.workers.end_run(run_id)

    def interrupt(self) -> None:
        """Cancel all running coroutines, and reject new ones."""
        self.workers.interrupt()
        self._loop.interrupt()

    def close_clients(self) -> None:
        """End the worker processes, close the connections and end the event loop."""
        self.workers.close()
        if self._clients is not None:
            clients, self._clients = self._clients, None
            self._loop.close(clients.close())

    def close(self) -> None:
        """Close the connections, stop the started servers and close the ledger."""
        self.close_clients()
        self.servers.close()
        self.ledger.close()


class VllmServers:
    """The vLLM servers of the settings.

    A server starts when its model is first used; closing this object stops all servers.
    """

    def __init__(self, models: Mapping[str, Model]) -> None:
        self._models = models
        self._stack = ExitStack()
        self._urls: dict[str, str] = {}
        self._lock = threading.Lock()

    def url(self, name: str) -> str:
        """Return the address of a model's server; start the server if necessary."""
        with self._lock:
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
