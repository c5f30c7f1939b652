"""A row of the unified data set (paper, section 2.3).

Nested fields are JSON or Python literals. These fields are parsed but never evaluated.
"""

import ast
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from memflow.benchmarks.memorybench.tasks.task import Part
from memflow.benchmarks.published_file import Said

MAX_LITERAL_LENGTH = 1_000_000
"""Maximum characters of a literal."""


def parse_literal(text: str) -> Any:
    """Return the value of a JSON text or a Python literal. Raises ValueError."""
    if len(text) > MAX_LITERAL_LENGTH:
        raise ValueError(
            f"the text {text[:40]!r}... has {len(text):,} characters; the maximum is "
            f"{MAX_LITERAL_LENGTH:,}; download the file again"
        )
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(
            f"the text {text[:40]!r}... is neither JSON nor a Python literal; download the file again"
        ) from error


_Literal = BeforeValidator(lambda value: parse_literal(value) if isinstance(value, str) else value)


class PromptMessage(BaseModel):
    """A message of a prompt."""

    role: str
    content: str


class UnifiedRow(BaseModel):
    """A case: its prompt and gold. The file path determines `part`. Published dialogues are ignored.

    `test_idx` is the position in the original data set.
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
        """Return the user's part of the published prompt."""
        if self.input_prompt:
            return self.input_prompt
        return "\n".join(said.content for said in self.input_chat_messages or () if said.role == "user")
