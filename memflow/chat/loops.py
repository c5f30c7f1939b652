"""Loops: the ends of answers that repeat, as small models write them until the token limit.

A larger limit only makes such an answer longer.
"""

import json
import re
from typing import Any

from memflow.chat.requests import schema_of

TIMES = 4
"""Repetitions after which the end of a text is a loop."""
COUNTED = 12
"""Repetitions after which the end is a loop if only its numbers differ, as in `[1, 2, 3, ...`."""
LENGTH = 80
"""Minimum length of all repetitions in characters."""
TAIL = 4_000
"""The characters at the end of a text that are searched."""

_LONGEST_NAME = 60
"""Characters of a repeated text in a message."""

_SPACE, _NUMBER = re.compile(r"\s+"), re.compile(r"\d+")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def loop_of(text: str, output: Any = None) -> str:
    """Return in words what a text that the token limit cut repeats; "" if it does not repeat.

    `output` is the requested output type. A model that does not follow it may repeat its schema, or count on beyond the
    bounds of the request (request_bounds.py).
    """
    if unit := loop_at_end(text):
        return f"`{unit[:_LONGEST_NAME]}`"
    if output is None:
        return ""
    if repeats_schema(text, output):
        return "the schema of the request"
    name = output.excess(text) if hasattr(output, "excess") else ""
    return f"items of `{name}` beyond those of the request" if name else ""


def repeats_schema(text: str, output: Any) -> bool:
    """Return whether an answer contains the schema of its output type instead of values."""
    schema = schema_of(output)
    described = [part.get("description") for part in (schema, *schema.get("$defs", {}).values())]
    return '"additionalProperties"' in text or any(
        json.dumps(words, ensure_ascii=False) in text for words in described if words
    )


def loop_at_end(text: str) -> str:
    """Return what the end of a text repeats, with single spaces; "" if it does not repeat.

    Any white space is alike, since models indent nested JSON deeper in each repetition.
    """
    tail = text[-TAIL:]
    if tail and not tail[-LENGTH:].strip() and len(tail) >= LENGTH:
        return "white space"
    flat = _SPACE.sub(" ", tail)
    return _repeated_unit(flat, TIMES) or _repeated_unit(_NUMBER.sub("0", flat), COUNTED)


def loop_in_strings(json_text: str) -> str:
    """Return what the end of a string of a JSON text repeats; "" if none repeats."""
    return next(filter(None, (loop_at_end(string[0][1:-1]) for string in _STRING.finditer(json_text))), "")


def _repeated_unit(text: str, times: int) -> str:
    """Return the shortest unit, from the start of a word, that ends a text at least `times` times; "" if none does."""
    for size in range(1, len(text) // times + 1):
        unit = text[-size:]
        if text.endswith(unit * max(times, -(-LENGTH // size))):
            start = 2 + unit.find(". ") if ". " in unit else 1 + unit.find(" ")
            return f"{unit[start:]}{unit[:start]}".strip() or "white space"
    return ""
