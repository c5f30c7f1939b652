"""Numbers, dates and durations in English and Chinese texts: patterns, and conversion of a match to a value.

memflow/benchmarks/membench/generation/values.py formats and parses the values of the generator; it is not used here.
"""

import re
from datetime import datetime, timedelta

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {
    **{word: number for number, word in enumerate((*_ONES, *_TEENS), start=1)},
    **{word: 10 * number for number, word in enumerate(_TENS, start=2)},
}
_POWERS = {"hundred": 100, "thousand": 1000}
_ZH_DIGITS = {"两": 2, **{digit: number for number, digit in enumerate("一二三四五六七八九", start=1)}}
_ZH_POWERS = {"十": 10, "百": 100, "千": 1000}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DAYS = {"day": 1, "week": 7, "month": 30, "天": 1, "周": 7, "个月": 30}
_HALVES = {"上午": 0, "下午": 12, "晚上": 12}

_WORD = rf"(?:{'|'.join(_NUMBERS)}|\d[\d,]*)"
_ZH_NUMBER = r"[一二两三四五六七八九十百千\d]+"
_CLOCK = r"\d{1,2}:\d\d [AP]M"
_ZH_CLOCK = rf"(?:上午|下午|晚上){_ZH_NUMBER}点"

PATTERNS: dict[str, dict[str, str]] = {
    "en": {
        "age": r"\d+ years old",
        "height": r"\d+ cm",
        "birthday": rf"(?:{'|'.join(_MONTHS)}) \d+",
        "phone": r"\d{3}-\d{3}-\d{4}",
        "email": r"[a-z.]+@[a-z.]*[a-z]",
        "scale": rf"{_WORD}(?: hundred| thousand)? people",
        "duration": (
            rf"(?<!\bin )(?<!\bpast )(?<!\bthe last ){_WORD} (?:day|week|month)s?\b"
            r"(?! (?:from|ago|later|before|after|earlier)\b)"
        ),
        "time": rf"(?:{_WORD} days from today at {_CLOCK}|(?:{'|'.join(_MONTHS)}) \d+, \d{{4}} at {_CLOCK})",
    },
    "zh": {
        "age": r"\d+岁",
        "height": r"\d+厘米",
        "birthday": r"\d+月\d+日",
        "phone": r"0\d{2,3}-\d+",
        "email": r"[a-z.]+@[a-z.]*[a-z]",
        "scale": rf"{_ZH_NUMBER}人",
        "duration": rf"(?<!哪){_ZH_NUMBER}(?:天|周|个月)(?!之?以?[前后内])",
        "time": rf"(?:{_ZH_NUMBER}天后的?{_ZH_CLOCK}|\d{{4}}年\d+月\d+日{_ZH_CLOCK})",
    },
}
"""Patterns of the attributes that are recognized by their form, by language."""


def number_in(text: str) -> int:
    """Return the first number in a text, in digits or words. Raises ValueError without a number."""
    if match := re.search(r"\d[\d,]*", text):
        return int(match[0].replace(",", ""))
    words = text.casefold().split()
    if words and words[0] in _NUMBERS:
        return _NUMBERS[words[0]] * next((_POWERS[word] for word in words if word in _POWERS), 1)
    if match := re.search(
        r"([一二两三四五六七八九]?)([十百千])([一二三四五六七八九]?)|[一二两三四五六七八九]", text
    ):
        if match[2] is None:
            return _ZH_DIGITS[match[0]]
        return _ZH_DIGITS.get(match[1], 1) * _ZH_POWERS[match[2]] + _ZH_DIGITS.get(match[3], 0)
    raise ValueError(f"no number in {text!r}")


def days_in(text: str) -> int:
    """Return the number of days of a duration; a month has 30 days. Raises ValueError."""
    for unit, days in sorted(_DAYS.items(), key=lambda each: -len(each[0])):
        if unit in text:
            return number_in(text) * days
    raise ValueError(f"no unit of time in {text!r}")


def day_of_year(text: str) -> tuple[int, int]:
    """Return the month and the day of a birthday, from 1. Raises ValueError for a text that is none."""
    if match := re.search(r"(\d+)月(\d+)日", text):
        return int(match[1]), int(match[2])
    month, _, day = text.partition(" ")
    return month_of(month), int(day)


def month_of(text: str) -> int:
    """Return the number of a month that is given as a name or a number. Raises ValueError."""
    return int(text) if text.isdigit() else 1 + _MONTHS.index(text.casefold())


def moment_of(text: str, sent_at: datetime) -> datetime:
    """Return the time that a text in a message sent at `sent_at` states. Raises ValueError."""
    hour, minute = _clock(text)
    if match := re.search(r"(\d{4})年(\d+)月(\d+)日", text):
        return datetime(int(match[1]), int(match[2]), int(match[3]), hour, minute)
    if match := re.search(r"([A-Za-z]+) (\d+), (\d{4})", text):
        return datetime(int(match[3]), month_of(match[1]), int(match[2]), hour, minute)
    days = number_in(re.split(r" days|天后", text)[0])
    return (sent_at + timedelta(days=days)).replace(hour=hour, minute=minute, second=0, microsecond=0)


def moment_in(option: str) -> datetime | None:
    """Return the absolute time that an option states, or None."""
    try:
        return moment_of(option, datetime.min) if re.search(r"\d{4}", option) else None
    except ValueError:
        return None


def _clock(text: str) -> tuple[int, int]:
    if match := re.search(r"(\d{1,2}):(\d\d) ([AP])M", text):
        return int(match[1]) % 12 + 12 * (match[3] == "P"), int(match[2])
    if match := re.search(rf"(上午|下午|晚上)({_ZH_NUMBER})点", text):
        return number_in(match[2]) % 12 + _HALVES[match[1]], 0
    raise ValueError(f"no time of day in {text!r}")
