"""The content hash of a table's rows, computed from columns because rows are many and their texts repeat.

The hash of a row is `memflow.fingerprint.digest` of its fields by name, without the columns that measure a run.
row_groups.py chooses the rows.
"""

import hashlib
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring
from typing import Any

from memflow.fingerprint import canonical_json
from memflow.records import MEASURED, columns
from resources.lake.columns import column_values


class _JsonTexts(dict[str | None, str]):
    """The JSON texts of strings, each encoded once."""

    def __missing__(self, value: str | None) -> str:
        text = self[value] = "null" if value is None else encode_basestring(value)
        return text


def _texts(values: Sequence[str | None]) -> list[str]:
    texts = _JsonTexts()
    return [texts[value] for value in values]


def _lists_of_texts(values: Sequence[Sequence[str] | None]) -> list[str]:
    texts = _JsonTexts()
    return ["null" if value is None else f"[{','.join([texts[item] for item in value])}]" for value in values]


_ENCODE: dict[Any, Callable[[Any], list[str]]] = {
    str: _texts,
    int: lambda values: ["null" if value is None else int.__repr__(value) for value in values],
    float: lambda values: ["null" if value is None else float.__repr__(value) for value in values],
    bool: lambda values: ["null" if value is None else "true" if value else "false" for value in values],
    list[str]: _lists_of_texts,
    list[float]: lambda values: [*map(canonical_json, values)],
}
"""The canonical JSON of a column's values, by the column's Python type."""


class RowDigest:
    """A running content hash of the rows of one table, in order. Rows must be valid (columns.py)."""

    def __init__(self, table: str) -> None:
        self._table = table
        named = {column.name: column for column in columns(table) if column.name not in MEASURED}
        self._columns = [named[name] for name in sorted(named)]
        self._template = "[{" + ",".join(f'"{column.name}":%s' for column in self._columns) + "}]"
        self._running = hashlib.sha256()

    def update(self, rows: Sequence[Any]) -> "RowDigest":
        """Add rows. Return `self`."""
        values = column_values(self._table, rows)
        encoded = [_ENCODE[column.type](values[column.name]) for column in self._columns]
        for texts in zip(*encoded, strict=True):
            content = (self._template % texts).encode("utf-8", "surrogatepass")
            self._running.update(hashlib.sha256(content).hexdigest()[:32].encode())
        return self

    def hexdigest(self) -> str:
        """Return the first 32 hex digits of the hash of all rows so far."""
        return self._running.hexdigest()[:32]
