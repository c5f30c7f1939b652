"""Dates of scenes, and the seasons of a script without season numbers.

The dates are estimates of a language model: some belong to flashbacks and some are wrong. Therefore, a season is
inferred from the television years of several consecutive scenes.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date

STARTS = 6
"""The first month of a television year. Seasons run from September to May, and often begin with scenes set in summer.
"""
NEXT = 5
"""Number of scenes that together mark the start of a season."""
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
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


def seasons(texts: Sequence[str]) -> list[int]:
    """Return the season of every scene, from 1, inferred from the dates in broadcast order.

    Season 1 is the most frequent television year of the first five dated scenes. The next season starts at a scene of a
    later year if more than half of this scene and the next four have a later year; scenes of earlier years are not
    counted. Single flashbacks and wrong dates stay in the current season.
    """
    years = [_year(each) for each in map(day, texts)]
    dated = [year for year in years if year is not None]
    running, season = _most(dated[:NEXT]), 1
    found = []
    for place, year in enumerate(years):
        if year is not None and year > running:
            coming = [each for each in years[place:] if each is not None and each >= running][:NEXT]
            later = [each for each in coming if each > running]
            if 2 * len(later) > len(coming):
                running, season = min(later), season + 1
        found.append(season)
    return found


def _year(played: date | None) -> int | None:
    """Return the television year of a date: the calendar year in which the television season starts."""
    return None if played is None else played.year - (played.month < STARTS)


def _most(years: Sequence[int]) -> int:
    """Return the most frequent year, the earliest year on a tie, or 0 without years."""
    counted = Counter(years)
    return max(counted, key=lambda year: (counted[year], -year), default=0)
