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
    """Neighbours that a new note is linked with, and those that it changes: by number, none where none is."""

    links: Items[Number]
    evolved: Items[Evolved]


class Keywords(BaseModel):
    """What to search for."""

    keywords: SomeItems[Text]
