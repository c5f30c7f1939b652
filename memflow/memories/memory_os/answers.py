"""What a model answers about pages, segments and the people in them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator

from memflow.chat.limits import Items, Number, SomeItems, Text


def _lower(value: Any) -> Any:
    """Return a word in lower case, since models also write `High`."""
    return value.lower() if isinstance(value, str) else value


class Link(BaseModel):
    """Whether a page goes on with the page before it, what their chain is about, and the page's keywords."""

    continues: bool
    chain: Text
    keywords: SomeItems[Text]


class Topic(BaseModel):
    """A segment's content, now that a page has joined it."""

    summary: Text
    keywords: SomeItems[Text]


class Attribute(BaseModel):
    """A fixed attribute of the user, and the page that states it."""

    attribute: Annotated[Literal["name", "gender", "birth year"], BeforeValidator(_lower)]
    value: Text
    page: Number

    @property
    def label(self) -> str:
        return self.attribute

    @property
    def text(self) -> str:
        return self.value


class Trait(BaseModel):
    """How strongly a dimension holds for the user, what shows it, and the page that does."""

    dimension: Text
    level: Annotated[Literal["high", "medium", "low"], BeforeValidator(_lower)]
    reason: Text
    page: Number

    @property
    def label(self) -> str:
        """The dimension as the list of dimensions spells it."""
        return self.dimension.strip().casefold()

    @property
    def text(self) -> str:
        return f"{self.level} ({self.reason})"


class Traits(BaseModel):
    """Lines of the profile to add or to replace: none, where the pages tell nothing of the user."""

    attributes: Items[Attribute]
    traits: Items[Trait]


class Fact(BaseModel):
    """A fact worth keeping, and the page that tells it."""

    text: Text
    page: Number


class Facts(BaseModel):
    """What is to be known of the user, and what of the assistant."""

    user: Items[Fact]
    assistant: Items[Fact]


class Keywords(BaseModel):
    """What a query is about."""

    keywords: Items[Text]
