"""Functions that format and parse attribute values in English and Chinese.

Every formatted value can be parsed again, so that plans compare and count values without a model.
"""

import calendar
import random
import re
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import product
from typing import Literal

from memflow.benchmarks.membench.generation.vocabulary import Language
from memflow.benchmarks.membench.wording import rerun_advice
from memflow.errors import BadInput

ScaleUnit = Literal["ten", "hundred", "thousand"]
DurationUnit = Literal["day", "week", "month"]

HOURS = (9, 14, 19)
"""Start hours of events."""
_DAYS = {"day": 1, "week": 7, "month": 30}
_SIZES = {"ten": 10, "hundred": 100, "thousand": 1000}
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TENS = ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES_ZH = "一二三四五六七八九"
_SIZES_ZH = {"ten": "十", "hundred": "百", "thousand": "千"}
_DAYS_ZH = {"day": "天", "week": "周", "month": "个月"}
_MONTHS = tuple(calendar.month_name)[1:]
RELATIVE_DAYS = range(2, 14)
"""Days from the message to an event with a relative time. Weeks and weekdays are not used: "next Monday" and "Sunday of
next week" have two readings.
"""
_DAY_COUNTS = (*_ONES, "ten", "eleven", "twelve", "thirteen")
_DAY_COUNTS_ZH = (*_ONES_ZH, "十", "十一", "十二", "十三")
_CLOCK = ("9:00 AM", "2:00 PM", "7:00 PM")
_CLOCK_ZH = ("上午九点", "下午两点", "晚上七点")


CONTACT_ATTRIBUTES = ("phone", "email")
"""Synthetic personal data, in reserved ranges that belong to no real person."""
_MAILS = ("example.com", "example.org", "example.net")


def sample_phone(rng: random.Random, area: str, language: Language) -> str:
    """Return a random number from 555-0100 to 555-0199, reserved for fiction, or a Chinese one that begins with 0."""
    return (
        f"{area}-0{rng.randrange(10**7):07}" if language == "zh" else f"{area}-555-01{rng.randrange(100):02}"
    )


def sample_email(rng: random.Random, local: str, employer: str) -> str:
    """Return a random e-mail address in a domain that RFC 2606 reserves, of the employer or of a provider."""
    return f"{local}@{rng.choice((f'{employer}.example', f'{employer}.example', *_MAILS))}"


def format_age(years: int, language: Language) -> str:
    """Format an age: `28 years old`."""
    return f"{years}岁" if language == "zh" else f"{years} years old"


def format_height(centimetres: int, language: Language) -> str:
    """Format a height: `165 cm`."""
    return f"{centimetres}厘米" if language == "zh" else f"{centimetres} cm"


def format_birthday(month: int, day: int, language: Language) -> str:
    """Format a day of the year: `August 13`."""
    return f"{month}月{day}日" if language == "zh" else f"{_MONTHS[month - 1]} {day}"


def format_scale(count: int, unit: ScaleUnit, language: Language) -> str:
    """Format a number of people, given as 1 to 9 of a unit: `nine hundred people`."""
    if language == "zh":
        number = "" if (count, unit) == (1, "ten") else _counted_zh(count, after=unit != "ten")
        return f"{number}{_SIZES_ZH[unit]}人"
    return f"{_TENS[count - 1] if unit == 'ten' else f'{_ONES[count - 1]} {unit}'} people"


def format_duration(count: int, unit: DurationUnit, language: Language) -> str:
    """Format a duration, given as 1 to 9 of a unit: `eight days`."""
    if language == "zh":
        return f"{_counted_zh(count)}{_DAYS_ZH[unit]}"
    return f"{_ONES[count - 1]} {unit}{'' if count == 1 else 's'}"


def format_relative_time(days: int, hour: int, language: Language) -> str:
    """Format a time that is `days` days after the day of the message: `nine days from today at 2:00 PM`."""
    at = HOURS.index(hour)
    if language == "zh":
        return f"{'两' if days == 2 else _DAY_COUNTS_ZH[days - 1]}天后的{_CLOCK_ZH[at]}"
    return f"{_DAY_COUNTS[days - 1]} days from today at {_CLOCK[at]}"


def format_absolute_time(moment: datetime, language: Language) -> str:
    """Format an absolute time at one of the start hours: `on October 12, 2024 at 7:00 PM`."""
    at = HOURS.index(moment.hour)
    if language == "zh":
        return f"{moment.year}年{moment.month}月{moment.day}日{_CLOCK_ZH[at]}"
    return f"on {_MONTHS[moment.month - 1]} {moment.day}, {moment.year} at {_CLOCK[at]}"


def format_moment(moment: datetime, language: str) -> str:
    """Format a time with its day of the week: `Saturday, October 12, 2024 at 7:00 PM`."""
    if language == "zh":
        return f"{format_absolute_time(moment, 'zh')}（周{'一二三四五六日'[moment.weekday()]}）"
    return f"{moment:%A}, {format_absolute_time(moment, 'en').removeprefix('on ')}"


def _counted_zh(count: int, *, after: bool = True) -> str:
    """Return a Chinese numeral. Before a unit two is 两, except before 十."""
    return "两" if count == 2 and after else _ONES_ZH[count - 1]


_LANGUAGES: tuple[Language, ...] = ("en", "zh")
_COUNTS = range(1, 10)
_SCALES = {
    format_scale(count, unit, language): count * size  # type: ignore[arg-type]
    for language, (unit, size), count in product(_LANGUAGES, _SIZES.items(), _COUNTS)
}
_DURATIONS = {
    format_duration(count, unit, language): count * days  # type: ignore[arg-type]
    for language, (unit, days), count in product(_LANGUAGES, _DAYS.items(), _COUNTS)
}
_RELATIVE_TIMES = {
    format_relative_time(days, hour, language): (days, hour)
    for language, days, hour in product(_LANGUAGES, RELATIVE_DAYS, HOURS)
}


def parse_size(text: str) -> int:
    """Return the number of years of an age, or of centimeters of a height. Raises BadInput."""
    match = re.fullmatch(r"(\d+)(?: years old|岁| cm|厘米)", text)
    if match is None:
        raise _parse_error(text, "an age or height such as `28 years old` or `165 cm`")
    return int(match[1])


def parse_birthday(text: str) -> tuple[int, int]:
    """Return the month (1 to 12) and the day of a birthday. Raises BadInput for a text that is none."""
    if match := re.fullmatch(r"(\d+)月(\d+)日", text):
        return int(match[1]), int(match[2])
    month, _, day = text.partition(" ")
    if month in _MONTHS and day.isdigit():
        return 1 + _MONTHS.index(month), int(day)
    raise _parse_error(text, "a birthday such as `August 13`")


def parse_scale(text: str) -> int:
    """Return the number of people that a scale states. Raises BadInput."""
    if text not in _SCALES:
        raise _parse_error(text, "a number of people such as `nine hundred people`")
    return _SCALES[text]


def parse_duration(text: str) -> int:
    """Return the number of days of a duration; a month has 30 days. Raises BadInput."""
    if text not in _DURATIONS:
        raise _parse_error(text, "a duration such as `eight days`")
    return _DURATIONS[text]


def resolve_time(time: str, sent_at: datetime) -> datetime:
    """Convert a time in a message that was sent at `sent_at` to an absolute time. Raises BadInput."""
    if time in _RELATIVE_TIMES:
        days, hour = _RELATIVE_TIMES[time]
        return (sent_at + timedelta(days=days)).replace(hour=hour, minute=0, second=0, microsecond=0)
    for hour, clock, clock_zh in zip(HOURS, _CLOCK, _CLOCK_ZH, strict=True):
        for form in (f"on %B %d, %Y at {clock}", f"%Y年%m月%d日{clock_zh}"):
            with suppress(ValueError):
                return datetime.strptime(time, form).replace(hour=hour)
    raise _parse_error(time, "a time such as `on October 12, 2024 at 7:00 PM`")


def _parse_error(text: str, what: str) -> BadInput:
    return BadInput(f"the value {text!r} is not {what}. {rerun_advice()}")
