"""What a model answers when A-Mem asks it for a note, for its links and for a query."""

from typing import Annotated

from pydantic import BaseModel, Field

LINKED = 5
"""The most notes that one answer links, and changes: published code looks at five neighbours."""

Word = Annotated[str, Field(min_length=1, max_length=32)]
Context = Annotated[str, Field(min_length=1, max_length=160)]
Neighbour = Annotated[int, Field(ge=1, le=999)]


class Described(BaseModel):
    """What a note says of a message beside its words."""

    keywords: Annotated[list[Word], Field(max_length=6)]
    context: Context
    tags: Annotated[list[Word], Field(max_length=4)]


class Evolved(BaseModel):
    """A neighbour as it has to be described from now on."""

    note: Neighbour
    keywords: Annotated[list[Word], Field(max_length=6)]
    context: Context
    tags: Annotated[list[Word], Field(max_length=4)]


class Decision(BaseModel):
    """Neighbours that a new note is linked with, and those that it changes: by number, none where none is."""

    links: Annotated[list[Neighbour], Field(max_length=LINKED)]
    evolved: Annotated[list[Evolved], Field(max_length=LINKED)]


class Keywords(BaseModel):
    """What to search for."""

    keywords: Annotated[list[Word], Field(min_length=1, max_length=8)]
