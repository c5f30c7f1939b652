"""What a model answers when Mem0 asks it. Every number is one of a list that the prompt shows."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

Message = Annotated[int, Field(ge=1, le=99)]
Line = Annotated[int, Field(ge=1, le=999)]


class Fact(BaseModel):
    """A salient fact, and the new messages that say it."""

    text: Annotated[str, Field(min_length=1, max_length=200)]
    messages: Annotated[list[Message], Field(min_length=1, max_length=4)]


class Facts(BaseModel):
    """What is worth keeping of the new messages: nothing, where they say nothing lasting."""

    facts: Annotated[list[Fact], Field(max_length=8)]


class Decision(BaseModel):
    """What a fact does to the memory. `memory` is 0 and `text` empty where the operation needs none."""

    fact: Annotated[int, Field(ge=1, le=8)]
    operation: Literal["ADD", "UPDATE", "DELETE", "NOOP"]
    memory: Annotated[int, Field(ge=0, le=999)]
    replaces: bool
    text: Annotated[str, Field(max_length=240)]


class Decisions(BaseModel):
    """At least one decision on each fact."""

    decisions: Annotated[list[Decision], Field(min_length=1, max_length=12)]


class Summary(BaseModel):
    """The conversation so far."""

    text: Annotated[str, Field(min_length=1, max_length=1500)]


class Entity(BaseModel):
    """A person, place, thing or notion that the new messages speak of."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    type: Annotated[str, Field(min_length=1, max_length=30)]


class Entities(BaseModel):
    """The entities of the new messages."""

    entities: Annotated[list[Entity], Field(max_length=8)]


class Relation(BaseModel):
    """How one entity stands to another, both by their numbers, and the new messages that say it."""

    source: Annotated[int, Field(ge=1, le=8)]
    relation: Annotated[str, Field(min_length=1, max_length=60)]
    target: Annotated[int, Field(ge=1, le=8)]
    messages: Annotated[list[Message], Field(min_length=1, max_length=4)]


class Relations(BaseModel):
    """The relations between the entities of the new messages."""

    relations: Annotated[list[Relation], Field(max_length=8)]


class Obsolete(BaseModel):
    """Numbers of the old relations that the new ones contradict."""

    obsolete: Annotated[list[Line], Field(max_length=10)]


class Names(BaseModel):
    """The entities that a question is about."""

    names: Annotated[list[Annotated[str, Field(min_length=1, max_length=60)]], Field(max_length=5)]
