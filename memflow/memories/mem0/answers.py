"""What a model answers when Mem0 asks it. Every number is one of a list that the prompt shows."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from memflow.chat.limits import Items, Number, OptionalText, SomeItems, Text


class Fact(BaseModel):
    """A salient fact, and the new messages that say it."""

    text: Text
    messages: SomeItems[Number]


class Facts(BaseModel):
    """What is worth keeping of the new messages: nothing, where they say nothing lasting."""

    facts: Items[Fact]


class Decision(BaseModel):
    """What a fact does to the memory. `memory` is 0 and `text` empty where the operation needs none."""

    fact: Number
    operation: Literal["ADD", "UPDATE", "DELETE", "NOOP"]
    memory: Annotated[int, Field(ge=0, le=9_999)]
    replaces: bool
    text: OptionalText


class Decisions(BaseModel):
    """At least one decision on each fact."""

    decisions: SomeItems[Decision]


class Summary(BaseModel):
    """The conversation so far."""

    text: Text


class Entity(BaseModel):
    """A person, place, thing or notion that the new messages speak of."""

    name: Text
    type: Text


class Entities(BaseModel):
    """The entities of the new messages."""

    entities: Items[Entity]


class Relation(BaseModel):
    """How one entity stands to another, both by their numbers, and the new messages that say it."""

    source: Number
    relation: Text
    target: Number
    messages: SomeItems[Number]


class Relations(BaseModel):
    """The relations between the entities of the new messages."""

    relations: Items[Relation]


class Obsolete(BaseModel):
    """Numbers of the old relations that the new ones contradict."""

    obsolete: Items[Number]


class Names(BaseModel):
    """The entities that a question is about."""

    names: Items[Text]
