"""Asks the simulator on behalf of one user; what gets no usable answer gives the user up.

What is asked, and in which order, is generation.py and schema.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.amemgym.wording import prompt
from memflow.chat.asking import ask
from memflow.chat.requests import Chat


class GivenUp(Exception):
    """One stage failed for one user; the message is the reason. It never leaves the making of that user."""


@dataclass(frozen=True)
class Asker:
    """The simulator, in the domain's language."""

    simulator: Chat
    language: str

    async def __call__(
        self,
        stem: str,
        output: type[BaseModel],
        fields: Mapping[str, object],
        check: Callable[[Any], str | None] | None = None,
    ) -> Any:
        """The answer to the prompt, of type `output`. Raises GivenUp with the reason."""
        answer = await ask(self.simulator, prompt(stem, output, self.language), fields, check=check)
        if answer.value is None:
            raise GivenUp(answer.reason or "no answer")
        return answer.value
