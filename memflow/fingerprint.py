"""Stable digests: of rows, of prompts, of models. The same content has the same digest on every machine and run.

Nothing here depends on hash order, on time or on where a file lies.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from typing import Any


def digest(*parts: Any) -> str:
    """The first 32 hex digits of the SHA-256 of `parts` written as canonical JSON."""
    written = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def digest_rows(rows: Iterable[Any], *, ignore: frozenset[str] = frozenset()) -> str:
    """Digest of rows in order. `ignore` names columns that measure the run (latencies) and not its outcome."""
    running = hashlib.sha256()
    for row in rows:
        plain = {name: value for name, value in _plain(row).items() if name not in ignore}
        running.update(digest(plain).encode())
    return running.hexdigest()[:32]


def seeded(*parts: Any) -> int:
    """A 63-bit seed that depends on `parts` alone: `random.Random(seeded(run_seed, user, period))`."""
    return int(digest(*parts)[:16], 16) >> 1


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"cannot take the digest of {type(value).__name__}; give plain values or a row")
