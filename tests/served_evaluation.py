"""Evaluation of a memory in this process, with a chat model at an endpoint: the pipeline's steps without Dagster."""

from typing import Any

from generated import Generated
from server_evaluation import ScriptedModels, run_steps

from memflow.chat.ledger import MemoryLedger
from memflow.chat.requests import Chat
from memflow.memories.registry import find


class ServedModels(ScriptedModels):
    """The models of one evaluation: one model answers and serves the memory, another simulates and judges."""

    def __init__(self, served: Chat, simulator: Chat) -> None:
        super().__init__(served, MemoryLedger(), lambda: None)
        self.simulator = simulator

    async def role(self, role: str) -> Chat:
        return self.simulator

    async def judges(self, domain: str) -> dict[str, Chat]:
        return {"judge": self.simulator}


async def evaluate(generated: Generated, assistant: str, chat: Chat) -> dict[str, list[Any]]:
    """Return the rows of all tables that the steps of an assistant write. The scripted chat simulates the users."""
    models = ServedModels(chat, generated.dry_run.scripted["small"])
    return await run_steps(generated, assistant, find(assistant), models, tables={})
