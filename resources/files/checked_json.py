"""JSON objects with a hash of their content, for small files whose values a changed bit must not alter."""

import json
from typing import Any

from memflow.fingerprint import digest

CHECK = "check"
"""The key of the hash."""


def with_check(values: dict[str, Any]) -> dict[str, Any]:
    """Return JSON values with their hash, under the key CHECK."""
    return {**values, CHECK: _hash(values)}


def without_check(values: Any) -> dict[str, Any]:
    """Return JSON values without their hash. Raises ValueError if they are no object, or if the hash differs."""
    if not isinstance(values, dict):
        raise ValueError("it is no JSON object")
    found = {name: value for name, value in values.items() if name != CHECK}
    if values.get(CHECK) != _hash(found):
        raise ValueError("it changed since it was written")
    return found


def _hash(values: dict[str, Any]) -> str:
    return digest(json.loads(json.dumps(values)))
