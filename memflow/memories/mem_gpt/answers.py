"""What a model answers MemGPT: functions to call, as data, and a summary. Nothing here is ever evaluated.

There is a type for each occasion, and it names only the functions that may be called then: under memory pressure
those that keep something, in a live read all of them, and in a frozen one, which may change nothing, the searches.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from memflow.chat.limits import Items, Number, OptionalText, SomeItems, Text


class WorkingAppend(BaseModel):
    """A new line of the working context, and the lines it rests on."""

    function: Literal["working_append"]
    text: Text
    rests_on: SomeItems[Number]


class WorkingReplace(BaseModel):
    """What a line of the working context now says, and the lines that rests on: itself among them, where part of it
    still stands. With an empty text it is deleted."""

    function: Literal["working_replace"]
    line: Number
    text: OptionalText
    rests_on: SomeItems[Number]


class ArchivalInsert(BaseModel):
    """A text for the archive, and the lines it rests on."""

    function: Literal["archival_insert"]
    text: Text
    rests_on: SomeItems[Number]


class ArchivalSearch(BaseModel):
    """A search of what was put into the archive."""

    function: Literal["archival_search"]
    query: Text


class RecallSearch(BaseModel):
    """A search of the messages that have left the main context."""

    function: Literal["recall_search"]
    query: Text


Keeping = WorkingAppend | WorkingReplace | ArchivalInsert
Searching = ArchivalSearch | RecallSearch


class Saves(BaseModel):
    """What to keep before messages are evicted: no calls, where nothing more is worth it."""

    calls: Items[Annotated[Keeping, Field(discriminator="function")]]


class Searches(BaseModel):
    """What to look up: no calls, where enough is in view."""

    calls: Items[Annotated[Searching, Field(discriminator="function")]]


class Acts(BaseModel):
    """What to look up and what to keep."""

    calls: Items[Annotated[Searching | Keeping, Field(discriminator="function")]]


class Summary(BaseModel):
    """The summary of everything that was evicted so far."""

    summary: Text
