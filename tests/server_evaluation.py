"""Evaluation of a memory in this process with the scripted chat: all steps of an assistant on a generated domain."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any

from generated import Generated

from memflow.chat.ledger import LedgeredChat, MemoryLedger, RequestContext
from memflow.chat.requests import Chat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Embedder, Tools
from memflow.memories.registry import MemoryConfig, find
from memflow.memories.server.config import ServerConfig
from memflow.memories.server.protocol import Connection
from memflow.memories.user_memories import UserMemory
from memflow.metrics.backends import MetricBackends
from memflow.pipeline import steps_of
from memflow.run.context import StepContext

OWN = {"mine": UserMemory(server=ServerConfig(command=("mine",)))}


class ScriptedModels:
    """A ModelProvider in which the scripted chat has every role, and memories may have a server.

    `answering` is the chat that answers and serves the memory, if it is another.
    """

    def __init__(
        self,
        chat: Chat,
        ledger: MemoryLedger,
        connect: Callable[[], Connection | None],
        answering: Chat | None = None,
    ) -> None:
        self.chat = LedgeredChat(chat, ledger, RequestContext())
        self.served = self.chat if answering is None else LedgeredChat(answering, ledger, RequestContext())
        self.connect = connect

    async def role(self, role: str) -> Chat:
        return self.chat

    async def judges(self, domain: str) -> dict[str, Chat]:
        return {"judge": self.chat}

    async def answering(self, assistant: str) -> Chat:
        return self.served

    async def tools(self, assistant: str) -> Tools:
        return Tools(self.served, await self.embedder(), server=self.connect())

    async def embedder(self) -> Embedder:
        return HashingEmbedder()

    def expect(self, total: int) -> Callable[[], None]:
        return lambda: None


def server_memory(**parameters: Any) -> MemoryConfig:
    """Return the configuration of a memory server."""
    return find("mine", {"mine": UserMemory(server=OWN["mine"].server, parameters=parameters)})


def python_memory(path: str, **parameters: Any) -> MemoryConfig:
    """Return the configuration of a memory class."""
    return find("mine", {"mine": UserMemory(path, parameters)})


def evaluate(generated: Generated, *arguments: Any, **named: Any) -> dict[str, list[Any]]:
    """Return the rows of the tables of an assistant: `evaluated` in an event loop of its own."""
    return asyncio.run(evaluated(generated, *arguments, **named))


async def evaluated(
    generated: Generated,
    memory: MemoryConfig,
    server: Connection | Callable[[], Connection | None] | None = None,
    *,
    answering: Chat | None = None,
    ledger: MemoryLedger | None = None,
    steps: Collection[str] = (),
    before: Mapping[str, list[Any]] | None = None,
) -> dict[str, list[Any]]:
    """Return the rows of the tables of an assistant, whose name is `mine`.

    `server` may be a function that is called for each step. `before` are tables of earlier steps.
    """
    connect = server if callable(server) else lambda: server
    tables: dict[str, list[Any]] = dict(before or {})

    def rows(table: str, vectors: bool, episodes: Collection[str] | None) -> list[Any]:
        return tables[table] if table in tables else generated.rows(table)

    models = ScriptedModels(generated.dry_run.scripted["small"], ledger or MemoryLedger(), connect, answering)
    asked = [probe for probe in generated.probes if probe.split == "test"]
    for step in steps_of("domain x assistant"):
        if steps and step.name not in steps:
            continue
        context = StepContext(
            models,
            rows,
            step.inputs_of(generated.benchmark, generated.domain, memory),
            benchmark=generated.benchmark,
            domain=generated.domain,
            assistant="mine",
            memory=memory,
            metric_backends=lambda judges: MetricBackends(*judges.values()),
            later_probes=asked,
        )
        written = await step.function(context)
        tables.update({table: list(found) for table, found in written.items()})
    return tables
