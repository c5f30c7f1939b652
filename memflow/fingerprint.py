"""Content hashes of rows, prompts and models: equal content has the same hash on every machine.

resources/lake/row_groups.py computes the hash of a table's rows.
"""

import dataclasses
import hashlib
import json
from functools import cache
from typing import Any


def digest(*parts: Any) -> str:
    """Return a content hash of `parts`: the first 32 hex digits of the SHA-256 of their canonical JSON."""
    return _hexdigest(canonical_json(parts))


def digest_json(*parts: str) -> str:
    """Return the content hash of parts that are already canonical JSON."""
    return _hexdigest(f"[{','.join(parts)}]")


def canonical_json(value: Any) -> str:
    """Return plain values, rows and models as JSON text with sorted keys and without spaces."""
    return _CANONICAL.encode(value)


def seeded(*parts: Any) -> int:
    """Return a 63-bit seed that depends only on `parts`, as in `random.Random(seeded(run_seed, user, period))`."""
    return int(digest(*parts)[:16], 16) >> 1


def _hexdigest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in _field_names(type(value))}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"cannot hash a value of type {type(value).__name__}. Pass JSON types or a dataclass.")


@cache
def _field_names(dataclass_: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(dataclass_))


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)
