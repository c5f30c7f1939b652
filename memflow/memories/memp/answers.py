"""What a model answers when Memp asks it: a procedure, how an exchange came out, and better workflows."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

Workflow = Annotated[str, Field(min_length=1, max_length=600)]


class Procedure(BaseModel):
    """When a procedure is of use, and what to do then."""

    query: Annotated[str, Field(min_length=1, max_length=160)]
    workflow: Workflow


class Outcome(BaseModel):
    """What the user's words say of the assistant's answer."""

    outcome: Literal["success", "failure", "unclear"]


class Rewrite(BaseModel):
    """A procedure that misled, by its number in the list shown, and its workflow as it should have been."""

    number: Annotated[int, Field(ge=1, le=999)]
    workflow: Workflow


class Reflection(BaseModel):
    """Why it went wrong, and the procedures to rewrite: none, where they were not to blame."""

    analysis: Annotated[str, Field(max_length=240)]
    rewrites: Annotated[list[Rewrite], Field(max_length=3)]
