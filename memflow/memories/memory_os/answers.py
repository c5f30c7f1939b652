"""What a model answers about pages, segments and the people in them."""

from pydantic import BaseModel

from memflow.chat.limits import Items, Number, SomeItems, Text


class Link(BaseModel):
    """Whether a page goes on with the page before it, what their chain is about, and the page's keywords."""

    continues: bool
    chain: Text
    keywords: SomeItems[Text]


class Topic(BaseModel):
    """A segment's content, now that a page has joined it."""

    summary: Text
    keywords: SomeItems[Text]


class Trait(BaseModel):
    """A line of the user's profile, and the page that tells it."""

    label: Text
    value: Text
    page: Number


class Traits(BaseModel):
    """Lines to add to the profile or to replace: none, where the pages tell nothing of the user."""

    traits: Items[Trait]


class Fact(BaseModel):
    """A fact worth keeping, and the page that tells it."""

    text: Text
    page: Number


class Facts(BaseModel):
    """What is to be known of the user, and what of the assistant."""

    user: Items[Fact]
    assistant: Items[Fact]
