"""How MemBench writes: what a message says of its place and time, options by letter, and the prompts by name.

Texts of prompts are in prompts/, their types in answers.py. A prompt that is asked in Chinese too has a twin
`<stem>_zh.md` with the same fields.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache

from pydantic import BaseModel

from memflow.chat.prompts import Prompt, all_prompts, load

PACKAGE = "memflow.benchmarks.membench"
LETTERS = "ABCDEFGHIJ"
_CHINESE = "_zh"
_DAYS_ZH = "一二三四五六日"
_MOMENT = re.compile(r"(\d{4})[-年](\d\d)[-月](\d\d)日?\D*(\d\d):(\d\d)")


def prompt(stem: str, output: type[BaseModel] | None = None, language: str = "en") -> Prompt:
    """The prompt `prompts/<stem>.md`, or its twin in `language`; its output narrowed to `output` where given."""
    twin = f"{stem}{_CHINESE}" if language == "zh" and stem in twins() else stem
    loaded = load(PACKAGE, twin)
    return loaded if output is None else replace(loaded, output=output)


@cache
def twins() -> frozenset[str]:
    """The prompts that have a Chinese twin."""
    stems = (each.name.partition("/")[2] for each in all_prompts(PACKAGE) if each.language == "zh")
    return frozenset(stem.removesuffix(_CHINESE) for stem in stems)


def lettered(options: Sequence[str]) -> str:
    """Options as a multiple choice shows them: `A. ...`, one a line."""
    return "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False))


def written(moment: datetime, language: str = "en") -> str:
    """A time as the data writes it: `'2024-10-01 08:13' Tuesday`, in Chinese `2024年04月01日 周一 08:30`."""
    if language == "zh":
        return f"{moment:%Y年%m月%d日} 周{_DAYS_ZH[moment.weekday()]} {moment:%H:%M}"
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return f"'{moment:%Y-%m-%d %H:%M}' {days[moment.weekday()]}"


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
