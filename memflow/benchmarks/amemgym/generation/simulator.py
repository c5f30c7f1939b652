"""Requests to the simulator while one user is generated. The prompts and their order are in states.py and schema.py."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.amemgym.wording import prompt
from memflow.chat.asking import ask
from memflow.chat.requests import Chat


class GenerationFailed(Exception):
    """A generation step failed for one user; the message is the reason. `generate_user` catches it."""


@dataclass(frozen=True)
class UserSimulator:
    """The simulator, in the domain's language."""

    chat: Chat
    language: str

    async def __call__(
        self,
        stem: str,
        output: type[BaseModel],
        fields: Mapping[str, object],
        check: Callable[[Any], str | None] | None = None,
    ) -> Any:
        """Return the parsed answer of type `output`. Raises GenerationFailed."""
        answer = await ask(self.chat, prompt(stem, output, self.language), fields, check=check)
        if answer.value is None:
            raise GenerationFailed(answer.reason or "no answer")
        return answer.value
