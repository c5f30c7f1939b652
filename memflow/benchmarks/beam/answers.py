"""How the replies of judges are read: as the published code does, and strictly.

The published code takes the first JSON object that it finds, with or without a fence; if this is no JSON, a library
repairs the reply. It adds up `int(score)`, so that half points count 0, and a score such as "0.5" raises an error.
"""

import json
import math
import re
from typing import Any

_FENCED = re.compile(r"```(?:json)?\s*(\[.*\]|\{.*\})\s*```", re.DOTALL)
_FIRST = re.compile(r"(\{.*?\}|\[.*?\])", re.DOTALL)
_SCORE = re.compile(
    r"""["'“”]?\bscore["'“”]?\s*[:=]\s*(?:"(?P<double>[^"]*)|'(?P<single>[^']*)|(?P<bare>[^,}\]"'\s]*))"""
)
_NUMBER = re.compile(r"-?\d*\.?\d+(?:[eE][-+]?\d+)?")
_NAMES = {"true": True, "false": False, "null": None, "none": None}
HALVES = (0.0, 0.5, 1.0)
"""The scores of the judge's scale."""


def published_reply(reply: str) -> Any:
    """Return the value in a judge's reply, as the published code reads it. Raises ValueError if it finds none."""
    text = reply.strip()
    if text.startswith("```") and (fenced := _FENCED.search(text)):
        text = fenced[1].strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if first := _FIRST.search(text):
        try:
            return json.loads(first[1])
        except (ValueError, RecursionError):
            pass
    return _repaired(reply)


def _repaired(reply: str) -> dict[str, Any]:
    """Return the score of a damaged object, such as one that is cut or has braces in its reason."""
    if "{" not in reply:
        raise ValueError("it contains no JSON")
    found = _SCORE.search(reply, reply.index("{"))
    if found is None:
        return {}
    if found["bare"] is None:
        return {"score": found["double"] if found["double"] is not None else found["single"]}
    bare = found["bare"]
    if bare.lower() in _NAMES:
        return {"score": _NAMES[bare.lower()]}
    return {"score": float(bare) if _NUMBER.fullmatch(bare) else bare}


def _score_of(reply: str) -> Any:
    value = published_reply(reply)
    if not isinstance(value, dict):
        raise ValueError(f"it is {value!r:.40} and no object")
    if "score" not in value:
        raise ValueError("it has no score")
    return value["score"]


def published_score(reply: str) -> int:
    """Return `int(score)` of a reply. Raises ValueError where the published code fails, and beyond 0 to 1."""
    score = _score_of(reply)
    try:
        value = int(score)
    except (ValueError, TypeError, OverflowError) as wrong:
        raise ValueError(f"the published code fails at the score {score!r:.40} ({wrong})") from wrong
    if value not in (0, 1):
        raise ValueError(f"the score {score!r:.40} is not from 0 to 1; the published code adds {value}")
    return value


def graded_score(reply: str) -> float:
    """Return a score of 0, 0.5 or 1, also if it is a text. Raises ValueError for another."""
    score = _score_of(reply)
    try:
        value = math.nan if isinstance(score, bool) else float(score)
    except (ValueError, TypeError, OverflowError):
        value = math.nan
    if value not in HALVES:
        raise ValueError(f"the score {score!r:.40} is none of 0, 0.5 and 1")
    return value


def published_float(reply: str) -> float:
    """Return `float(score)` of a reply, by which the published code adds up the rubric of an order of events."""
    score = _score_of(reply)
    try:
        return float(score)
    except (ValueError, TypeError, OverflowError) as wrong:
        raise ValueError(f"the published code fails at the score {score!r:.40} ({wrong})") from wrong


def is_same_event(reply: str) -> bool:
    """Return whether a judge calls two texts the same event: whether its reply contains `yes`, as published."""
    return "yes" in reply.lower()
