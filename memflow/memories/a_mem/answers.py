"""What a model answers when A-Mem asks it for a note, for its links and for a query."""

from pydantic import BaseModel

from memflow.chat.limits import Items, Number, SomeItems, Text


class Described(BaseModel):
    """What a note says of a message beside its words."""

    keywords: Items[Text]
    context: Text
    tags: Items[Text]


class Evolved(BaseModel):
    """A neighbour as it has to be described from now on."""

    note: Number
    keywords: Items[Text]
    context: Text
    tags: Items[Text]


class Decision(BaseModel):
    """The neighbors to link a new note with, the new note's tags if they change, and the neighbors that it changes."""

    links: Items[Number]
    tags: Items[Text]
    evolved: Items[Evolved]


class Keywords(BaseModel):
    """What to search for."""

    keywords: SomeItems[Text]
