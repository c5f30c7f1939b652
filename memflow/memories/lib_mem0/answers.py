"""What the package's two prompts ask a model for. The names are the package's; the limits are ours."""

from typing import Literal

from pydantic import BaseModel

from memflow.chat.limits import Items, OptionalText


class Facts(BaseModel):
    """Facts of a dialogue."""

    facts: Items[OptionalText]


class Operation(BaseModel):
    """What is to become of one memory. `id` is its number in the prompt, or a new one."""

    id: OptionalText
    text: OptionalText
    event: Literal["ADD", "UPDATE", "DELETE", "NONE"]
    old_memory: OptionalText = ""


class Operations(BaseModel):
    """What is to become of the memories, after new facts."""

    memory: Items[Operation]
