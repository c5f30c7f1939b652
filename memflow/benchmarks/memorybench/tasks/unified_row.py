"""A row of the unified set as it is published, one shape for all data sets (2.3).

Nested fields are texts there, JSON or Python's way of writing a dictionary. They are read as data, never evaluated.
"""

import ast
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from memflow.benchmarks.memorybench.tasks.task import Part
from memflow.benchmarks.published_file import Said

MAX_LITERAL_LENGTH = 1_000_000
"""Characters of a text that is read as a literal, at most."""


def parse_literal(text: str) -> Any:
    """What a text says, as JSON or as a Python literal. Raises ValueError."""
    if len(text) > MAX_LITERAL_LENGTH:
        raise ValueError(f"a text of {len(text)} characters is too long to be a row's")
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as wrong:
        raise ValueError("it is neither JSON nor a Python literal") from wrong


_Literal = BeforeValidator(lambda value: parse_literal(value) if isinstance(value, str) else value)


class PromptMessage(BaseModel):
    """A message of a prompt."""

    role: str
    content: str


class UnifiedRow(BaseModel):
    """A case: its prompt and what its answer is measured by. `part` is told by the file's place.

    `test_idx` is the place in the original data set. The dialogues that are published beside are not read.
    """

    test_idx: Annotated[int, Field(ge=0)]
    dataset_name: Said
    lang: Literal["en", "zh"]
    info: Annotated[dict[str, Any], _Literal]
    input_prompt: str | None = None
    input_chat_messages: Annotated[list[PromptMessage] | None, _Literal] = None
    origin_question: str | None = None
    id: str | int | None = None
    domain: str | None = None
    category: str | None = None
    part: Part

    def prompt(self) -> str:
        """What the user says in the published prompt."""
        if self.input_prompt:
            return self.input_prompt
        return "\n".join(said.content for said in self.input_chat_messages or () if said.role == "user")
