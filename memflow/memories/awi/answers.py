"""What a model answers when AWI asks it to update its dictionary, or to better its list of kinds."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

Kind = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Change = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=160)]


class Fact(BaseModel):
    """A label of the dictionary, and what is now known under it."""

    label: Annotated[str, Field(min_length=1, max_length=60)]
    value: Annotated[str, Field(min_length=1, max_length=200)]


class Facts(BaseModel):
    """Labels to add or to replace: none, where nothing worth keeping was said."""

    facts: Annotated[list[Fact], Field(max_length=8)]


class Policy(BaseModel):
    """Kinds of information to keep from now on, and what was changed about them."""

    kinds: Annotated[list[Kind], Field(min_length=1, max_length=16)]
    changes: Annotated[list[Change], Field(max_length=8)]
