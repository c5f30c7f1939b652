"""Readers of published files: text, JSON, JSON lines and records. An invalid file is rejected, never repaired."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, StringConstraints, ValidationError

from memflow.benchmarks.datasets import Dataset
from memflow.errors import BadInput
from memflow.records import Record

M = TypeVar("M", bound=BaseModel)
Said = Annotated[str, StringConstraints(pattern=r"\S")]
"""A non-blank text, kept unchanged."""


@dataclass(frozen=True)
class File:
    """A file of a data set. `source` is its path in the data folder."""

    dataset: Dataset
    source: str
    content: bytes

    def text(self) -> str:
        """Return the whole file as text. Raises BadInput if the text is not UTF-8."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as wrong:
            raise self.bad(f"the file is not UTF-8 (byte {wrong.start})") from wrong

    def json(self) -> Any:
        """Parse the file as JSON. Raises BadInput."""
        try:
            return json.loads(self.text())
        except json.JSONDecodeError as wrong:
            raise self.bad(f"the file is truncated or invalid JSON ({wrong})") from wrong

    def json_list(self, items: str) -> list[Any]:
        """Parse the file as a non-empty JSON list. Raises BadInput naming the expected `items`."""
        values = self.json()
        if not isinstance(values, list) or not values:
            raise self.bad(f"the file is not a JSON list of {items}, or the list is empty")
        return values

    def numbered(self) -> Iterator[tuple[int, Any]]:
        """Yield (line number, from 1, parsed JSON value) for each non-empty line. Raises BadInput."""
        # Not splitlines: texts hold other line separators, and JSON lets them stand.
        for number, line in enumerate(self.text().split("\n"), start=1):
            if line.strip():
                try:
                    yield number, json.loads(line)
                except json.JSONDecodeError as wrong:
                    raise self.bad(f"line {number} is truncated or invalid JSON ({wrong})") from wrong

    def lines(self, shape: type[M]) -> Iterator[tuple[dict[str, Any], M]]:
        """Yield each non-empty line as a JSON object and as an instance of the model `shape`. Raises BadInput."""
        for number, raw in self.numbered():
            yield raw, self.shaped(shape, raw, f"line {number}")

    def shaped(self, shape: type[M], raw: Any, where: str) -> M:
        """Return `raw` as an instance of the model `shape`. Raises BadInput with `where` and the fault."""
        try:
            return shape.model_validate(raw)
        except ValidationError as wrong:
            raise self.bad(f"{where}: {self.first(wrong)}") from wrong

    @staticmethod
    def first(wrong: ValidationError) -> str:
        """Return the first error of a failed validation as text: the path of the field and the fault."""
        error = wrong.errors(include_url=False, include_input=False)[0]
        return f"at {'.'.join(str(part) for part in error['loc']) or 'the top level'}: {error['msg']}"

    def bad(self, what: str) -> BadInput:
        """Return the BadInput error for a fault in this file."""
        fix = "reinstall memflow" if self.dataset.ships else f"get the file again: {self.dataset.how}"
        return BadInput(f"{self.dataset.name}: {self.source}: {what}; {fix}")


Reader = Callable[[File], Iterable[tuple[str, Any]]]
"""Function from a file to the ids and contents of its records. Raises BadInput."""


def records_of(dataset: Dataset, files: Mapping[str, Path], reader: Callable[[str], Reader]) -> list[Record]:
    """Return the records of a data set's files in order, with checksum, license and origin.

    `files` maps paths in the data folder to files. `reader` returns the reader for a path. Raises BadInput for an
    invalid file and for duplicate ids.
    """
    found: list[Record] = []
    seen: set[str] = set()
    for source, path in files.items():
        file = File(dataset, source, path.read_bytes())
        sha256 = hashlib.sha256(file.content).hexdigest()
        for record_id, raw in reader(source)(file):
            if record_id in seen:
                raise file.bad(f"the record id {record_id} occurs twice")
            seen.add(record_id)
            found.append(
                Record(
                    dataset=dataset.name,
                    record_id=record_id,
                    position=len(found),
                    source=source,
                    sha256=sha256,
                    licence=dataset.licence,
                    origin=dataset.origin,
                    content=json.dumps(raw, ensure_ascii=False),
                )
            )
    return found
