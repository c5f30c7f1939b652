"""Several texts in one reply, as they were asked for in JSON. What is done with them, and with a reply that is none, is
the metric's.
"""

import json
import re
from typing import Any

_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


def listed(answer: str, name: str) -> list[str]:
    """The texts of the list `name` in the reply's JSON object; none where there is no such thing."""
    fenced = _FENCED.search(answer)
    text = fenced[1] if fenced else answer
    try:
        given = json.loads(text[text.find("{") : text.rfind("}") + 1], strict=False)[name]
    except (ValueError, KeyError, TypeError):
        return []
    return [_told(one) for one in given] if isinstance(given, list) else []


def _told(one: Any) -> str:
    parts = one.values() if isinstance(one, dict) else [one]
    return " ".join(str(part).strip() for part in parts)
