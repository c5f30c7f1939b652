"""Times that are told from the day on which they are told: `next week Wednesday 9:00 AM`, `下下周三上午9点`.

What day they come to, and other days near it. When something was told is clock.py.
"""

import random
import re
from datetime import datetime, time, timedelta
from itertools import product

from memflow.errors import BadInput

_WEEKS = {"next week": 1, "week after next": 2, "下下周": 2, "下周": 1}
_DAYS = {name: day for day, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
_DAYS_ZH = {name: day for day, name in enumerate("一二三四五六日")} | {"天": 6}
_NUMERALS = {name: at for at, name in enumerate("零一二三四五六七八九十")} | {"两": 2, "十一": 11, "十二": 12}

_DAY = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*\b")
_DAY_ZH = re.compile(r"下周([一二三四五六日天])")
_HOUR = re.compile(
    r"(上午|早上|中午|下午|晚上)?\s*(\d{1,2}|[一二三四五六七八九十两]{1,2})(?::(\d\d)|点)\s*(am|pm)?"
)


def is_relative(text: str) -> bool:
    """Whether a time is told from the day on which it is told."""
    return _weeks(text.casefold()) is not None


def resolved(text: str, said: datetime) -> datetime:
    """The moment that a relative time comes to when it is told at `said`; weeks begin on Monday. Raises BadInput."""
    plain = text.casefold()
    weeks = _weeks(plain)
    hour = _HOUR.search(_DAY_ZH.sub(" ", plain))
    if (english := _DAY.search(plain)) is not None:
        day = _DAYS[english[1]]
    elif (chinese := _DAY_ZH.search(plain)) is not None:
        day = _DAYS_ZH[chinese[1]]
    else:
        day = None
    if weeks is None or day is None or hour is None:
        raise BadInput(f"no time told from today on: {text!r}; it takes a week, a day of it and an hour")
    monday = said.date() - timedelta(days=said.weekday())
    when = time(_of_day(hour), int(hour[3] or 0))
    return datetime.combine(monday + timedelta(weeks=weeks, days=day), when)


def dates_near(moment: datetime, count: int, chance: random.Random) -> list[datetime]:
    """So many other moments: a week or a few days before or after it, or at another hour of its day."""
    days = [moment + timedelta(days=by) for by in (-7, 7, -1, 1, -2, 2)]
    hours = [moment.replace(hour=hour) for hour in (9, 14, 19) if hour != moment.hour]
    near = [*days, *hours, *(each.replace(hour=hour) for each, hour in product(days, (9, 14, 19)))]
    return chance.sample(list(dict.fromkeys(near)), count)


def _weeks(plain: str) -> int | None:
    return next((weeks for name, weeks in _WEEKS.items() if name in plain), None)


def _of_day(hour: re.Match[str]) -> int:
    """The hour from 0 to 23."""
    said = int(hour[2]) if hour[2].isdigit() else _NUMERALS[hour[2]]
    if "pm" in (hour[4] or "") or hour[1] in ("下午", "晚上"):
        return said % 12 + 12
    return 0 if hour[4] == "am" and said == 12 else said
