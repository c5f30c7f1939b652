"""What a model answers MemGPT: functions to call, as data, and a summary. Nothing here is ever evaluated.

There is a type for each occasion, and it names only the functions that may be called then: under memory pressure
those that keep something, in a live read all of them, and in a frozen one, which may change nothing, the searches.
"""

from datetime import date
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, model_validator

from memflow.chat.limits import Items, Number, OptionalText, SomeItems, Text

Section = Literal["persona", "human"]


class FunctionCall(BaseModel):
    """A function call. `request_heartbeat` asks for another round, in which the model sees the result.

    Arguments that are missing have the defaults of MemGPT's functions.
    """

    defaults: ClassVar[dict[str, Any]] = {"request_heartbeat": False}

    @model_validator(mode="before")
    @classmethod
    def _add_defaults(cls, value: Any) -> Any:
        return {**cls.defaults, **value} if isinstance(value, dict) else value


class WorkingAppend(FunctionCall):
    """A new line of the working context, and the lines it rests on."""

    defaults: ClassVar[dict[str, Any]] = {**FunctionCall.defaults, "section": "human"}

    function: Literal["working_append"]
    section: Section
    text: Text
    rests_on: SomeItems[Number]
    request_heartbeat: bool


class WorkingReplace(FunctionCall):
    """What a line of the working context now says, and the lines that rests on: itself among them, where part of it
    still stands. With an empty text it is deleted."""

    function: Literal["working_replace"]
    line: Number
    text: OptionalText
    rests_on: SomeItems[Number]
    request_heartbeat: bool


class ArchivalInsert(FunctionCall):
    """A text for the archive, and the lines it rests on."""

    function: Literal["archival_insert"]
    text: Text
    rests_on: SomeItems[Number]
    request_heartbeat: bool


class SearchCall(FunctionCall):
    """A search whose results come in pages, numbered from 1."""

    defaults: ClassVar[dict[str, Any]] = {**FunctionCall.defaults, "page": 1}


class ArchivalSearch(SearchCall):
    """A search of what was put into the archive."""

    function: Literal["archival_search"]
    query: Text
    page: Number
    request_heartbeat: bool


class RecallSearch(SearchCall):
    """A search of the messages that have left the main context."""

    function: Literal["recall_search"]
    query: Text
    page: Number
    request_heartbeat: bool


class RecallSearchDate(SearchCall):
    """A search of the messages that have left the main context by their dates, the first and the last day included."""

    function: Literal["recall_search_date"]
    start_date: date
    end_date: date
    page: Number
    request_heartbeat: bool


AnyWriteCall = WorkingAppend | WorkingReplace | ArchivalInsert
AnySearchCall = ArchivalSearch | RecallSearch | RecallSearchDate


class Saves(BaseModel):
    """What to keep before messages are evicted: no calls, where nothing more is worth it."""

    calls: Items[Annotated[AnyWriteCall, Field(discriminator="function")]]


class Searches(BaseModel):
    """What to look up: no calls, where enough is in view."""

    calls: Items[Annotated[AnySearchCall, Field(discriminator="function")]]


class Acts(BaseModel):
    """What to look up and what to keep."""

    calls: Items[Annotated[AnySearchCall | AnyWriteCall, Field(discriminator="function")]]


class Summary(BaseModel):
    """The summary of everything that was evicted so far."""

    summary: Text
