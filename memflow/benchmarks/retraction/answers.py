"""How open answers are read: which of a fact's values they mention."""

import re
import unicodedata
from collections.abc import Iterable

from memflow.benchmarks.multiple_choice import Choice
from memflow.words import HAN

__all__ = ["Choice", "mentioned", "mentions"]
_LETTER = re.compile(rf"[^\W{HAN}]")


def normalize(text: str) -> str:
    """Return a text in lower case and normal width, with single spaces and without marks between words."""
    text = unicodedata.normalize("NFKC", text).casefold().replace(",", "")
    return " ".join(re.sub(r"[^\w\s]", " ", text).split())


def mentions(answer: str, value: str) -> bool:
    """Return whether a normalized answer contains a value, not as a part of a longer word or number."""
    text, name = normalize(answer), normalize(value)
    before, after = (r"(?<!\w)" if _LETTER.match(name[at]) and value.isascii() else "" for at in (0, -1))
    return re.search(before + re.escape(name) + after.replace("<!", "!"), text) is not None


def mentioned(answer: str, values: Iterable[str]) -> list[str]:
    """Return the values that an answer mentions."""
    return [value for value in values if mentions(answer, value)]
