"""The headers with which a server asks its clients to wait.

Sources: openai-python (`_base_client._parse_retry_after_header`, `_should_retry`), OpenAI's guide to rate limits, and
Anthropic's reference of response headers.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

from pydantic import TypeAdapter

from memflow.resources.endpoints.tables import WIRE_WORDS

LONGEST_RESET = 60.0
"""Limits per minute are waited for; some servers report used-up limits of a day although they answer."""
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DATE = TypeAdapter(datetime)
_EPOCH = 1e9
"""A plain number above this is seconds since 1970, not a duration."""


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that `retry-after-ms` or `Retry-After` asks for; 0 if both are missing or invalid."""
    in_ms = _number(headers.get("retry-after-ms", ""))
    if in_ms is not None:
        return in_ms / 1000
    return _seconds_until(headers.get("retry-after", ""))


def seconds_until_reset(headers: Mapping[str, str]) -> float:
    """Return the seconds until a used-up rate limit is reset, at most LONGEST_RESET.

    The result is 0 if no limit is used up, and for longer resets: the next request learns from its response to wait.
    """
    waits = [
        _seconds_until(headers.get(reset, ""))
        for remaining, reset in WIRE_WORDS["rate_limits"]
        if remaining in headers and _number(headers[remaining]) == 0
    ]
    return max((seconds for seconds in waits if seconds <= LONGEST_RESET), default=0.0)


def _seconds_until(text: str) -> float:
    """Return the seconds in a number (of seconds, or since 1970), a duration such as 6m1.5s, or until a date."""
    number = _number(text)
    if number is not None and number < _EPOCH:
        return number
    parts = _DURATION.findall(text)
    if parts and "".join(map("".join, parts)) == text.strip():
        return sum(float(count) * _SECONDS[unit] for count, unit in parts)
    for parse in (_DATE.validate_python, parsedate_to_datetime):
        try:
            time = parse(text)
            return max(0.0, (time.replace(tzinfo=time.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError, OverflowError):
            continue
    return 0.0


def _number(text: str) -> float | None:
    """Return a number of at least 0; None for anything else (Azure has sent -1)."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and number >= 0 else None
