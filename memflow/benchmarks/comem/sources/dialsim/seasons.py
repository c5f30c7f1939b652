"""Days of scenes, and the seasons of a script that does not name them.

Days are a language model's guesses at when a scene plays: some are flash-backs, some are wrong. So a season is told by
the year on television in which its scenes play, against all of its neighbours, and never by one day alone.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date

STARTS = 6
"""The month in which a year on television begins. Seasons are shown from September to May; a new one often takes up the
story where the last one left it, so that its first scenes play in summer."""
NEXT = 5
"""How many scenes say together that a season has begun."""
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
    """The day that is written like `September 22, 1994`; None where it is not."""
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
    """The day of every scene, in the order in which they were shown. One whose day cannot be read plays when the one
    before it does, at the start when the first that can be read does."""
    read = [day(text) for text in texts]
    last = next((each for each in read if each is not None), date.min)
    found = []
    for each in read:
        last = each or last
        found.append(last)
    return found


def seasons(texts: Sequence[str]) -> list[int]:
    """The season of every scene, from 1, by their days in the order in which they were shown.

    The first season is of the year that most of the first five scenes with a day name. A scene of a later year opens
    the next one, if of it and the four that follow, those of earlier years than the running one left out, more than
    half are of a later year too. Flash-backs, and days that are wrong alone, stay in the season that runs.
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
    """The year on television, named by the one in which it begins."""
    return None if played is None else played.year - (played.month < STARTS)


def _most(years: Sequence[int]) -> int:
    """The year that is there most often, of several the first; a year before all others where there is none."""
    counted = Counter(years)
    return max(counted, key=lambda year: (counted[year], -year), default=0)
