"""What a model answers when Memp asks it: a procedure, how an exchange came out, and better workflows."""

from typing import Literal

from pydantic import BaseModel

from memflow.chat.limits import Items, Number, OptionalText, Text


class Procedure(BaseModel):
    """When a procedure is of use, and what to do then."""

    query: Text
    workflow: Text


class Outcome(BaseModel):
    """What the user's words say of the assistant's answer."""

    outcome: Literal["success", "failure", "unclear"]


class Rewrite(BaseModel):
    """A procedure that misled, by its number in the list shown, and its workflow as it should have been."""

    number: Number
    workflow: Text


class Reflection(BaseModel):
    """Why it went wrong, and the procedures to rewrite: none, where they were not to blame."""

    analysis: OptionalText
    rewrites: Items[Rewrite]
