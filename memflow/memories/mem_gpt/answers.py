"""What a model answers MemGPT: functions to call, as data, and a summary. Nothing here is ever evaluated.

There is a type for each occasion, and it names only the functions that may be called then: under memory pressure
those that keep something, in a live read all of them, and in a frozen one, which may change nothing, the searches.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

Number = Annotated[int, Field(ge=1, le=9999)]
"""A number that the prompt put before a line."""
Numbers = Annotated[list[Number], Field(min_length=1, max_length=4)]
Text = Annotated[str, Field(min_length=1, max_length=200)]
Query = Annotated[str, Field(min_length=1, max_length=120)]


class WorkingAppend(BaseModel):
    """A new line of the working context, and the lines it rests on."""

    function: Literal["working_append"]
    text: Text
    rests_on: Numbers


class WorkingReplace(BaseModel):
    """What a line of the working context now says, and the lines that rests on: itself among them, where part of it
    still stands. With an empty text it is deleted."""

    function: Literal["working_replace"]
    line: Number
    text: Annotated[str, Field(max_length=200)]
    rests_on: Numbers


class ArchivalInsert(BaseModel):
    """A text for the archive, and the lines it rests on."""

    function: Literal["archival_insert"]
    text: Text
    rests_on: Numbers


class ArchivalSearch(BaseModel):
    """A search of what was put into the archive."""

    function: Literal["archival_search"]
    query: Query


class RecallSearch(BaseModel):
    """A search of the messages that have left the main context."""

    function: Literal["recall_search"]
    query: Query


Keeping = WorkingAppend | WorkingReplace | ArchivalInsert
Searching = ArchivalSearch | RecallSearch


class Saves(BaseModel):
    """What to keep before messages are evicted: no calls, where nothing more is worth it."""

    calls: Annotated[list[Annotated[Keeping, Field(discriminator="function")]], Field(max_length=4)]


class Searches(BaseModel):
    """What to look up: no calls, where enough is in view."""

    calls: Annotated[list[Annotated[Searching, Field(discriminator="function")]], Field(max_length=3)]


class Acts(BaseModel):
    """What to look up and what to keep."""

    calls: Annotated[
        list[Annotated[Searching | Keeping, Field(discriminator="function")]], Field(max_length=4)
    ]


class Summary(BaseModel):
    """The summary of everything that was evicted so far."""

    summary: Annotated[str, Field(min_length=1, max_length=800)]
