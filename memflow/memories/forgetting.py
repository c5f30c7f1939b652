"""Requests to forget: what a user takes back, by message, by text or by time.

The player passes a request to the memory after the write of the message that asks for it (`Memory.forget`).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from memflow.errors import BadInput
from memflow.words import search_words

if TYPE_CHECKING:
    from memflow.memories.entries import Item

FORMS = frozenset({"message", "text", "time"})
"""The forms of a request."""
_CHINESE = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日")


Entry = TypeVar("Entry", bound="Item")


@dataclass(frozen=True)
class ForgetRequest:
    """A request to forget messages by id, everything about a text, or what was said in a period.

    `since` and `until` are days (YYYY-MM-DD), both included; a period without both is everything. For a period, the
    player fills in `message_ids`, since most memories know the messages of their entries and not the days.
    """

    by: Literal["message", "text", "time"]
    message_ids: tuple[str, ...] = ()
    text: str = ""
    since: str | None = None
    until: str | None = None

    def to_json(self) -> str:
        """Return the request as JSON, without fields that have their default."""
        return _adapter().dump_json(self, exclude_defaults=True).decode()

    @classmethod
    def from_json(cls, text: str) -> "ForgetRequest":
        """Return the request in a JSON text. Raises BadInput for another text, or a request that names nothing."""
        try:
            request = _adapter().validate_json(text)
        except ValidationError as error:
            detail = error.errors(include_url=False, include_input=False)[0]
            raise BadInput(
                f"the request to forget {text!r} is invalid: {'.'.join(map(str, detail['loc']))}: {detail['msg']}. Fix "
                "the column `forgets` of utterance.turns."
            ) from error
        bounds = [bound for bound in (request.since, request.until) if bound is not None]
        target = {"message": request.message_ids, "text": request.text.strip(), "time": True}[request.by]
        if not target or any(day_of(bound) is None for bound in bounds):
            raise BadInput(
                f"the request to forget {text!r} names no {request.by}. Give `message_ids`, a `text`, or days "
                "`since` and `until` as YYYY-MM-DD in the column `forgets` of utterance.turns."
            )
        return request

    @property
    def is_everything(self) -> bool:
        """Whether the user takes back everything."""
        return self.by == "time" and self.since is None and self.until is None

    def covers(self, sent_at: str | None) -> bool:
        """Return whether a period includes a message's date, in the format of any data set."""
        day, start, end = day_of(sent_at), day_of(self.since), day_of(self.until)
        if self.is_everything:
            return True
        return day is not None and (start is None or start <= day) and (end is None or day <= end)

    def with_messages(self, messages: Iterable[Any]) -> "ForgetRequest":
        """Return the request of a period with the ids of its messages (`Message`); another request as it is."""
        if self.by != "time":
            return self
        ids = tuple(message.message_id for message in messages if self.covers(message.sent_at))
        return ForgetRequest(self.by, ids, self.text, self.since, self.until)

    def matches(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return the entries that the request names: by their sources, or with all words of its text."""
        if self.is_everything:
            return [*entries]
        if self.by == "text":
            words = set(search_words(self.text))
            return [item for item in entries if words and words <= set(search_words(item.text))]
        ids = set(self.message_ids)
        return [item for item in entries if not ids.isdisjoint(item.sources)]


@cache
def _adapter() -> TypeAdapter[ForgetRequest]:
    return TypeAdapter(ForgetRequest)


def day_of(text: str | None) -> date | None:
    """Return the day of a message's date, in the format of any data set; None without year, month and day."""
    from dateutil import parser  # noqa: PLC0415  (few memories read dates)

    if text is None:
        return None
    if match := _CHINESE.search(text):
        text = "-".join(match.groups())
    try:
        # Missing parts of a date are taken from the default, so an incomplete date has two readings.
        days = {
            parser.parse(text, fuzzy=True, default=datetime(*day)).date()
            for day in ((2000, 1, 1), (2001, 2, 2))
        }
    except (ValueError, OverflowError):
        return None
    return days.pop() if len(days) == 1 else None
