"""The contract of agentmemoryleaderboard.ai: the messages of Add and Search, and its dates.

aml_transport.py calls an endpoint of this contract, and aml_server.py is one. The contract is known from the adapters
of third parties, such as melandlabs/opencontext@0985808.
"""

from datetime import UTC, datetime, time
from typing import Annotated, Literal

from dateutil import parser
from pydantic import ConfigDict, Field

from memflow.memories.server.protocol import MAX_ITEMS, Name, Text, Wire

KEY_VARIABLE = "AML_API_KEY"
"""The environment variable with the key of an endpoint that is named on the command line."""
ADD_REPEATS = frozenset({408, 409, 425, 429, *range(500, 600)})
SEARCH_REPEATS = frozenset({408, 425, 429, 500, 502, 503, 504})
"""The statuses after which the contract repeats a request."""
Id = Annotated[str, Field(min_length=1, max_length=500)]


class AmlMessage(Wire):
    """The base class of the messages. A number is a valid id."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


class Part(AmlMessage):
    """A part of a content. The memories are of text, so other parts are rejected."""

    type: Literal["text"]
    text: Text


Content = Text | tuple[Part, ...]


def plain_text(content: Content) -> str:
    """Return the text of a content."""
    return content if isinstance(content, str) else "\n".join(part.text for part in content)


class AddedMessage(AmlMessage):
    """A message of a session. `timestamp` is in milliseconds since 1970."""

    role: Literal["user", "assistant"]
    content: Content
    timestamp: Annotated[int, Field(ge=-62_135_596_800_000, lt=253_402_300_800_000)] | None = None


class AddRequest(AmlMessage):
    """One session of one user. Of equal `user_id` and `request_id`, it is stored once."""

    request_id: Id
    user_id: Id
    session_id: Id
    messages: Annotated[tuple[AddedMessage, ...], Field(max_length=MAX_ITEMS)]


class AddAnswer(AmlMessage):
    """The answer to Add, when the session is durable and can be found."""

    success: Literal[True]
    request_id: Name
    user_id: Name
    session_id: Name


class SearchRequest(AmlMessage):
    """A search. Its `options`, such as the choices of a question, are not read."""

    query: Content
    user_id: Id
    top_k: Annotated[int, Field(ge=1, le=MAX_ITEMS)]


class FoundMemory(AmlMessage):
    """A memory of a user. `created_at` is in ISO 8601."""

    id: Name
    content: Text
    score: float | None = Field(None, allow_inf_nan=False)
    created_at: Name | None = None


class SearchAnswer(AmlMessage):
    """The answer to Search: at most `top_k` memories, best first."""

    data: Annotated[tuple[FoundMemory, ...], Field(max_length=MAX_ITEMS)]


def milliseconds(date: str) -> int | None:
    """Return the milliseconds since 1970 of a date of the data, in UTC if it has no zone; None if it is incomplete."""
    try:
        moments = {
            parser.parse(date, fuzzy=True, default=datetime(year, year, year)) for year in (1, 2)
        }  # what the text lacks would differ
    except (ValueError, OverflowError):
        return None
    moment = moments.pop()
    return None if moments else round(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000)


def date_of(timestamp: int) -> str:
    """Return the date of a message for a memory: `2024-05-06 12:53:20`, without parts that are zero."""
    moment = datetime.fromtimestamp(timestamp / 1000, UTC)
    if moment.time() == time():
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%Y-%m-%d %H:%M:%S}".removesuffix(":00")


def created_at(timestamp: int) -> str:
    """Return a date in ISO 8601, such as 2024-05-06T12:53:20Z."""
    return f"{datetime.fromtimestamp(timestamp / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
