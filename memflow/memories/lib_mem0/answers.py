"""What the package's two prompts ask a model for. The names are the package's; the bounds are ours."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

FACTS, OPERATIONS = 32, 64


class Facts(BaseModel):
    """Facts of a dialogue."""

    facts: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=FACTS)]


class Operation(BaseModel):
    """What is to become of one memory. `id` is its number in the prompt, or a new one."""

    id: Annotated[str, Field(max_length=8)]
    text: Annotated[str, Field(max_length=300)]
    event: Literal["ADD", "UPDATE", "DELETE", "NONE"]
    old_memory: Annotated[str, Field(max_length=300)] = ""


class Operations(BaseModel):
    """What is to become of the memories, after new facts."""

    memory: Annotated[list[Operation], Field(max_length=OPERATIONS)]
