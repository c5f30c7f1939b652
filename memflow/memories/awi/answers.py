"""What a model answers when AWI asks it to update its dictionary, or to better its list of kinds."""

from typing import Annotated

from pydantic import BaseModel, StringConstraints

from memflow.chat.limits import TEXT, Items, SomeItems, Text

StrippedText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), TEXT]


class Fact(BaseModel):
    """A label of the dictionary, and what is now known under it."""

    label: Text
    value: Text


class Facts(BaseModel):
    """Labels to add or to replace: none, where nothing worth keeping was said."""

    facts: Items[Fact]


class Policy(BaseModel):
    """Kinds of information to keep from now on, and what was changed about them."""

    kinds: SomeItems[StrippedText]
    changes: Items[StrippedText]
