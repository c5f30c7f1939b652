"""Dates of scenes: estimates of a language model, some of which belong to flashbacks or are wrong."""

import calendar
import re
from collections.abc import Sequence
from datetime import date

_MONTHS = [name.lower() for name in calendar.month_name[1:]]
_DAY = re.compile(r"(?P<month>[A-Za-z]+)\.? +(?P<day>\d{1,2})(?:st|nd|rd|th)?,? +(?P<year>\d{4})")


def day(text: str) -> date | None:
    """Return the date in a text such as `September 22, 1994`, or None for an invalid date."""
    found = _DAY.fullmatch(text.strip())
    if found is None:
        return None
    months = [month.startswith(found["month"].lower()) for month in _MONTHS]
    if sum(months) != 1:
        return None
    try:
        return date(int(found["year"]), months.index(True) + 1, int(found["day"]))
    except ValueError:
        return None


def days(texts: Sequence[str]) -> list[date]:
    """Return the date of every scene in broadcast order.

    An invalid date is replaced by the previous valid date, or by the first valid date at the start.
    """
    read = [day(text) for text in texts]
    last = next((each for each in read if each is not None), date.min)
    found = []
    for each in read:
        last = each or last
        found.append(last)
    return found
