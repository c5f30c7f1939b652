"""Evaluation of a memory in this process, with a chat model at an endpoint: the pipeline's steps without Dagster."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from typing import Any

from generated import Generated

from memflow.chat.ledger import LedgeredChat, MemoryLedger, RequestContext
from memflow.chat.requests import Chat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Embedder, Tools
from memflow.memories.registry import find
from memflow.metrics.backends import MetricBackends
from memflow.pipeline import steps_of
from memflow.run.context import StepContext


class ServedModels:
    """The models of one evaluation, as a ModelProvider: one model answers and serves the memory, another simulates."""

    def __init__(self, served: Chat, simulator: Chat) -> None:
        self.served = LedgeredChat(served, MemoryLedger(), RequestContext())
        self.simulator = simulator

    async def role(self, role: str) -> Chat:
        return self.simulator

    async def judges(self, domain: str) -> dict[str, Chat]:
        return {"judge": self.simulator}

    async def answering(self, assistant: str) -> Chat:
        return self.served

    async def tools(self, assistant: str) -> Tools:
        return Tools(self.served, await self.embedder())

    async def embedder(self) -> Embedder:
        return HashingEmbedder()

    def of_stage(self, stage: str) -> "ServedModels":
        return self

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        return asyncio.create_task(work)

    async def idle(self) -> None:
        return

    def expect(self, total: int) -> Callable[[], None]:
        return lambda: None


async def evaluate(generated: Generated, assistant: str, chat: Chat) -> dict[str, list[Any]]:
    """Return the rows of all tables that the steps of an assistant write. The scripted chat simulates the users."""
    tables: dict[str, list[Any]] = {}
    models = ServedModels(chat, generated.dry_run.scripted["small"])
    memory = find(assistant)

    def rows(table: str, vectors: bool, episodes: Collection[str] | None) -> list[Any]:
        return tables[table] if table in tables else generated.rows(table)

    for step in steps_of("domain x assistant"):
        context = StepContext(
            models,
            rows,
            step.inputs_of(generated.benchmark, generated.domain, memory),
            benchmark=generated.benchmark,
            domain=generated.domain,
            assistant=assistant,
            memory=memory,
            metric_backends=lambda judges: MetricBackends(*judges.values()),
        )
        written = await step.function(context)
        tables |= {table: list(rows_of) for table, rows_of in written.items()}
    return tables
