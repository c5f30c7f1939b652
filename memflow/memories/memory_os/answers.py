"""What a model answers about pages, segments and the people in them."""

from typing import Annotated

from pydantic import BaseModel, Field

Keyword = Annotated[str, Field(min_length=1, max_length=30)]
Summary = Annotated[str, Field(min_length=1, max_length=240)]
Number = Annotated[int, Field(ge=1, le=99)]
"""A page's number in the list that the model was shown."""


class Link(BaseModel):
    """Whether a page goes on with the page before it, what their chain is about, and the page's keywords."""

    continues: bool
    chain: Summary
    keywords: Annotated[list[Keyword], Field(min_length=1, max_length=5)]


class Topic(BaseModel):
    """A segment's content, now that a page has joined it."""

    summary: Summary
    keywords: Annotated[list[Keyword], Field(min_length=1, max_length=6)]


class Trait(BaseModel):
    """A line of the user's profile, and the page that tells it."""

    label: Annotated[str, Field(min_length=1, max_length=40)]
    value: Annotated[str, Field(min_length=1, max_length=120)]
    page: Number


class Traits(BaseModel):
    """Lines to add to the profile or to replace: none, where the pages tell nothing of the user."""

    traits: Annotated[list[Trait], Field(max_length=6)]


class Fact(BaseModel):
    """A fact worth keeping, and the page that tells it."""

    text: Annotated[str, Field(min_length=1, max_length=160)]
    page: Number


class Facts(BaseModel):
    """What is to be known of the user, and what of the assistant."""

    user: Annotated[list[Fact], Field(max_length=5)]
    assistant: Annotated[list[Fact], Field(max_length=3)]
