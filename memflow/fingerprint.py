"""Stable digests of rows, prompts and models: equal content has the same digest on every machine."""

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from typing import Any


def digest(*parts: Any) -> str:
    """Return the first 32 hex digits of the SHA-256 of `parts` as canonical JSON."""
    written = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def digest_rows(rows: Iterable[Any], *, ignore: frozenset[str] = frozenset()) -> str:
    """Return the digest of rows in order, without the columns in `ignore`."""
    running = hashlib.sha256()
    for row in rows:
        plain = {name: value for name, value in _plain(row).items() if name not in ignore}
        running.update(digest(plain).encode())
    return running.hexdigest()[:32]


def seeded(*parts: Any) -> int:
    """Return a 63-bit seed that depends only on `parts`, as in `random.Random(seeded(run_seed, user, period))`."""
    return int(digest(*parts)[:16], 16) >> 1


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"cannot compute the digest of a {type(value).__name__}. Pass plain values or a row.")
