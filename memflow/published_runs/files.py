"""Files of published results: JSON or JSON lines, compressed or not. An invalid line is a fault; others are read."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memflow.errors import BadInput
from memflow.published_runs.forms import Form, Missing, RawRow, raw_rows

MAX_BYTES = 200_000_000
"""The largest text of a file that is read; the published files have up to 12 MB."""


@dataclass
class ResultsFile:
    """A file of results: its name, its JSON value (of JSON lines, the list of objects) and its faults."""

    path: Path
    name: str
    data: Any
    digest: str
    faults: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "ResultsFile":
        """Read a JSON or JSON lines file, compressed or not. Raises BadInput."""
        try:
            content = path.read_bytes()
            text = _unpacked(content).decode("utf-8-sig")
        except (OSError, ValueError, EOFError) as error:
            raise BadInput(f"cannot read {path} ({error}). Get the file again, then rerun.") from error
        name = path.name.removesuffix(".gz")
        file = cls(path, name, None, hashlib.sha256(text.encode()).hexdigest())
        try:
            file.data = list(file._lines(text)) if name.endswith(".jsonl") else json.loads(text)
        except (ValueError, RecursionError) as error:
            file.data = list(file._lines(text))
            if not file.data:
                message = f"cannot read {path} as JSON ({error}). Get the file again, then rerun."
                raise BadInput(message) from error
        return file

    def _lines(self, text: str) -> Iterator[Any]:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    self.faults.append(f"{self.name}, line {number}: not JSON, such as a torn line")
                    continue
                if isinstance(value, dict):
                    yield value

    def rows(self, form: Form) -> list[RawRow]:
        """Return the rows at the form's path."""
        return list(raw_rows(self.data, form.rows, self.name))

    def has_form(self, form: Form) -> bool:
        """Return whether a row has all marks of a form, and an id of its pattern."""
        return any(
            all(not isinstance(row.value(mark), Missing) for mark in form.marks)
            and (not form.pattern or re.fullmatch(form.pattern, str(row.value(form.id))) is not None)
            for row in self.rows(form)
        )

    def top_level_text(self) -> str:
        """Describe the top-level JSON value of the file (its type and first keys) for error messages."""
        value = self.data
        if isinstance(value, dict):
            return f"an object with the keys {', '.join(map(repr, list(value)[:8]))}"
        if not isinstance(value, list):
            return f"the value {str(value)[:40]!r}"
        if value and isinstance(value[0], dict):
            return f"a list of objects with the keys {', '.join(map(repr, list(value[0])[:12]))}"
        return "a list"


def _unpacked(content: bytes) -> bytes:
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"the file has more than {MAX_BYTES:,} bytes, the limit for results; select another file"
        )
    return content
