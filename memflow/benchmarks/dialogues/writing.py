"""Writing of rows in the format of own files. files.py reads what this module writes, unchanged."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memflow.benchmarks.dialogues.schema import LISTS, ROWS


def to_jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as JSON Lines: dialogues, messages or questions."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def to_csv(rows: Sequence[Mapping[str, Any]], kind: str) -> str:
    """Return messages or questions (`kind`: `message` or `question`) as CSV, without the columns that no row has."""
    columns = [name for name in ROWS[kind].model_fields if any(name in row for row in rows)]
    columns.sort(key=lambda name: name != "dialogue")
    written = io.StringIO(newline="")
    # A cell with a carriage return is quoted only if the line ending contains one.
    writer = csv.DictWriter(written, columns, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: _cell(name, value) for name, value in row.items()} for row in rows)
    return written.getvalue()


def _cell(field: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if field == "gold" and isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        value = [value]
    if field in LISTS and not isinstance(value, (str, int, float)):
        return json.dumps(value, ensure_ascii=False)
    if field in LISTS and field != "gold":
        return json.dumps([value], ensure_ascii=False)
    return str(value)
