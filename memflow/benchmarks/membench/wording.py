"""How MemBench writes: what a message says of its place and time, options by letter, and the prompts by name.

Texts of prompts are in prompts/, their types in answers.py. A prompt that is asked in Chinese too has a twin
`<stem>_zh.md` with the same fields.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel

from memflow.chat import prompts
from memflow.chat.prompts import Prompt

PACKAGE = "memflow.benchmarks.membench"
SIMULATOR = (
    "dialogue",
    "aftertalk",
    "aftertalk_alone",
    "told",
    "told_both",
    "told_alone",
    "question",
    "murmur",
    "distractors",
)
"""Prompts that the simulator is asked with."""
_STAMP = re.compile(r"( \(place: .*; time: .*\)|（地点：.*；时间：.*）)$")
_DAYS_ZH = "一二三四五六日"
_MOMENT = re.compile(r"(\d{4})[-年](\d\d)[-月](\d\d)日?\D*(\d\d):(\d\d)")


def prompt(stem: str, output: type[BaseModel] | None = None, language: str = "en") -> Prompt:
    """A prompt of this benchmark, as `chat.prompts.spoken` has it."""
    return prompts.load_in_language(PACKAGE, stem, output, language)


def twins() -> frozenset[str]:
    """The prompts of this benchmark that have a Chinese twin."""
    return prompts.translated_stems(PACKAGE)


def simulator_prompts() -> list[Prompt]:
    """Every prompt that the simulator is asked with, in both languages."""
    return [prompt(stem, language=language) for language in ("en", "zh") for stem in SIMULATOR]


def listed(words: Sequence[str]) -> str:
    """Words one after the other, each in quotes, as prompts show them; a dash where there is none."""
    return ", ".join(f'"{word}"' for word in words) or "-"


def says(text: str, word: str) -> bool:
    """Whether a text says a word, whole and in either case; one in a script without spaces, anywhere."""
    if not word.isascii():
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def written(moment: datetime, language: str = "en") -> str:
    """A time as the data writes it: `'2024-10-01 08:13' Tuesday`, in Chinese `2024年04月01日 周一 08:30`."""
    if language == "zh":
        return f"{moment:%Y年%m月%d日} 周{_DAYS_ZH[moment.weekday()]} {moment:%H:%M}"
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return f"'{moment:%Y-%m-%d %H:%M}' {days[moment.weekday()]}"


def unstamped(text: str) -> str:
    """A message without the place and time that `stamped` gave it."""
    return _STAMP.sub("", text)


def moment_of(text: str) -> datetime | None:
    """The time that a text of either form gives, the first of them; None where it gives none."""
    found = _MOMENT.search(text)
    try:
        return datetime.fromisoformat("{}-{}-{} {}:{}".format(*found.groups())) if found else None
    except ValueError:
        return None


def stamped(text: str, place: str, sent_at: str, language: str = "en") -> str:
    """A message as a memory is given it: with place and time, as the published evaluation has it."""
    if language == "zh":
        return f"{text}（地点：{place}；时间：{sent_at}）"
    return f"{text} (place: {place}; time: {sent_at})"
