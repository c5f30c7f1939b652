"""Functions that format and parse places, times and lists in MemBench's texts, and that load prompts by name.

Prompts with a Chinese version have a file `<stem>_zh.md` with the same fields.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from memflow.chat.prompts import load_in_language

PACKAGE = "memflow.benchmarks.membench"
_STAMP = re.compile(r"( \(place: .*; time: .*\)|（地点：.*；时间：.*）)$")
_DAYS_ZH = "一二三四五六日"
_MOMENT = re.compile(r"(\d{4})[-年](\d\d)[-月](\d\d)日?\D*(\d\d):(\d\d)")
prompt = partial(load_in_language, PACKAGE)
"""Return a prompt of this benchmark by its stem, in a language."""


def quote_list(words: Sequence[str]) -> str:
    """Format words as a quoted, comma-separated list for a prompt; an empty list becomes a dash."""
    return ", ".join(f'"{word}"' for word in words) or "-"


def contains_word(text: str, word: str) -> bool:
    """Return whether a text contains a word, ignoring case. Latin words match at word boundaries only."""
    if not word.isascii():
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def format_time(moment: datetime, language: str = "en") -> str:
    """Format a time as the data does: `'2024-10-01 08:13' Tuesday`, or `2024年04月01日 周一 08:30`."""
    if language == "zh":
        return f"{moment:%Y年%m月%d日} 周{_DAYS_ZH[moment.weekday()]} {moment:%H:%M}"
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return f"'{moment:%Y-%m-%d %H:%M}' {days[moment.weekday()]}"


def strip_stamp(text: str) -> str:
    """Remove the place and time stamp that `add_stamp` appended."""
    return _STAMP.sub("", text)


def parse_time(text: str) -> datetime | None:
    """Return the first time in a text, in either format, or None without a time."""
    found = _MOMENT.search(text)
    try:
        return datetime.fromisoformat("{}-{}-{} {}:{}".format(*found.groups())) if found else None
    except ValueError:
        return None


def rerun_advice(domain: str = "DOMAIN") -> str:
    """Return the advice of an error message to generate a domain again, by its name if it is known."""
    return f"Regenerate the domain with `memflow run --domain {domain} --force`."


def add_stamp(text: str, place: str, sent_at: str, language: str = "en") -> str:
    """Append place and time to a message, in the format of the published evaluation."""
    if language == "zh":
        return f"{text}（地点：{place}；时间：{sent_at}）"
    return f"{text} (place: {place}; time: {sent_at})"
