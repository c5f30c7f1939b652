"""What a model answers when AWI asks it to update its dictionary."""

from typing import Annotated

from pydantic import BaseModel, Field


class Fact(BaseModel):
    """A label of the dictionary, and what is now known under it."""

    label: Annotated[str, Field(min_length=1, max_length=60)]
    value: Annotated[str, Field(min_length=1, max_length=200)]


class Facts(BaseModel):
    """Labels to add or to replace: none, where nothing worth keeping was said."""

    facts: Annotated[list[Fact], Field(max_length=8)]
