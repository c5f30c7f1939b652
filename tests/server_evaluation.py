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
from memflow.run.early_answers import EarlyAnswers

OWN = {"mine": UserMemory(server=ServerConfig(command=("mine",)))}


class ScriptedModels:
    """A ModelProvider in which the scripted chat has every role, and memories may have a server."""

    def __init__(self, chat: Chat, ledger: MemoryLedger, connect: Callable[[], Connection | None]) -> None:
        self.chat = LedgeredChat(chat, ledger, RequestContext())
        self.connect = connect

    async def role(self, role: str) -> Chat:
        return self.chat

    async def judges(self, domain: str) -> dict[str, Chat]:
        return {"judge": self.chat}

    async def answering(self, assistant: str) -> Chat:
        return self.chat

    async def tools(self, assistant: str) -> Tools:
        return Tools(self.chat, await self.embedder(), server=self.connect())

    async def embedder(self) -> Embedder:
        return HashingEmbedder()

    def of_stage(self, stage: str) -> "ScriptedModels":
        return self

    def start(self, work: Any) -> asyncio.Task[Any]:
        return asyncio.create_task(work)

    async def idle(self) -> None:
        return

    def expect(self, total: int) -> Callable[[], None]:
        return lambda: None


def server_memory(**parameters: Any) -> MemoryConfig:
    """Return the configuration of a memory server."""
    return find("mine", {"mine": UserMemory(server=OWN["mine"].server, parameters=parameters)})


def python_memory(path: str, **parameters: Any) -> MemoryConfig:
    """Return the configuration of a memory class."""
    return find("mine", {"mine": UserMemory(path, parameters)})


def evaluate(
    generated: Generated,
    memory: MemoryConfig,
    server: Connection | Callable[[], Connection | None] | None = None,
    *,
    ledger: MemoryLedger | None = None,
    early: bool = True,
    steps: Collection[str] = (),
    before: Mapping[str, list[Any]] | None = None,
) -> dict[str, list[Any]]:
    """Return the rows of the tables of an assistant, whose name is `mine`.

    `server` may be a function that is called for each step. `before` are tables of earlier steps.
    """
    connect = server if callable(server) else lambda: server
    models = ScriptedModels(generated.dry_run.scripted["small"], ledger or MemoryLedger(), connect)
    asked = [probe for probe in generated.probes if probe.split == "test"]
    answers = EarlyAnswers(asked) if early else None
    running = run_steps(
        generated, "mine", memory, models, early=answers, steps=steps, tables=dict(before or {})
    )
    return asyncio.run(running)


async def run_steps(
    generated: Generated,
    assistant: str,
    memory: MemoryConfig,
    models: ScriptedModels,
    *,
    tables: dict[str, list[Any]],
    early: EarlyAnswers | None = None,
    steps: Collection[str] = (),
) -> dict[str, list[Any]]:
    """Add the rows that the steps of an assistant (all, without `steps`) write to `tables`, and return them."""

    def rows(table: str, vectors: bool, episodes: Collection[str] | None) -> list[Any]:
        return tables[table] if table in tables else generated.rows(table)

    for step in steps_of("domain x assistant"):
        if steps and step.name not in steps:
            continue
        context = StepContext(
            models,
            rows,
            step.inputs_of(generated.benchmark, generated.domain, memory),
            benchmark=generated.benchmark,
            domain=generated.domain,
            assistant=assistant,
            memory=memory,
            metric_backends=lambda judges: MetricBackends(*judges.values()),
            early=early if step.name in ("memories", "replies") else None,
        )
        written = await step.function(context)
        tables.update({table: list(found) for table, found in written.items()})
    return tables
