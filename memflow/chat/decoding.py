"""Decoding of text and JSON that a model or a server wrote: bounded, and without characters that cannot be stored."""

import json
import re
from typing import Any, NoReturn

LEVELS = 100
"""Maximum nesting of arrays and objects."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""A string, which may lack its end, or a bracket. Possessive, so that the time is linear in the length."""


def printable(text: str) -> str:
    """Return the text with U+FFFD for NUL and lone surrogates, which PostgreSQL and Parquet reject."""
    if text.isascii() and "\0" not in text:  # ten times faster than the pattern
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def decode_json(text: str) -> Any:
    """Return the value of a JSON text, whose strings may contain raw control characters (as xgrammar allows).

    Raises ValueError, with the reason as its message, if the text is not JSON, is nested too deeply, or contains NaN,
    Infinity or an integer of more than 4,300 digits.
    """
    if text.count("[") + text.count("{") > LEVELS:
        _check_nesting(text)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error.msg} at character {error.pos})") from error
    return _storable(value) if "\\u" in text else value


def _check_nesting(text: str) -> None:
    """Raise ValueError if brackets outside of strings are nested in more than LEVELS levels."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > LEVELS:
                raise ValueError(f"it is not usable JSON (more than {LEVELS} levels of nesting)")
        elif token[0] in "]}":
            depth -= 1


def _storable(value: Any) -> Any:
    """Return a decoded value with printable strings. An escape such as \\ud83d is a lone surrogate after decoding."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): _storable(item) for key, item in value.items()}
    return value


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"it is not JSON ({name} is no JSON number)")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_reject_constant)
