"""A published file as readers take it, its text and its JSON lines, and how it is refused; and its records.

A file that is not what it should be is refused whole, with a message that says where; nothing is repaired.
"""

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
"""A text that says something, kept as it stands."""


@dataclass(frozen=True)
class File:
    """One file of a data set. `source` is its path in the data folder."""

    dataset: Dataset
    source: str
    content: bytes

    def text(self) -> str:
        """The whole file. Raises BadInput where it is not UTF-8."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as wrong:
            raise self.bad(f"it is not UTF-8 (byte {wrong.start})") from wrong

    def json(self) -> Any:
        """What the file holds as JSON. Raises BadInput."""
        try:
            return json.loads(self.text())
        except json.JSONDecodeError as wrong:
            raise self.bad(f"it is cut off or not JSON ({wrong})") from wrong

    def numbered(self) -> Iterator[tuple[int, Any]]:
        """Each line's number from 1, and its JSON as it stands; empty lines are passed over. Raises BadInput."""
        # Not splitlines: texts hold other line separators, and JSON lets them stand.
        for number, line in enumerate(self.text().split("\n"), start=1):
            if line.strip():
                try:
                    yield number, json.loads(line)
                except json.JSONDecodeError as wrong:
                    raise self.bad(f"line {number} is cut off or not JSON ({wrong})") from wrong

    def lines(self, shape: type[M]) -> Iterator[tuple[dict[str, Any], M]]:
        """Each line's JSON, as it stands and as `shape` reads it; empty lines are passed over. Raises BadInput."""
        for number, raw in self.numbered():
            yield raw, self.shaped(shape, raw, f"line {number}")

    def shaped(self, shape: type[M], raw: Any, where: str) -> M:
        """`raw` as `shape` reads it. Raises BadInput saying what is wrong at `where`."""
        try:
            return shape.model_validate(raw)
        except ValidationError as wrong:
            raise self.bad(f"{where}: {self.first(wrong)}") from wrong

    @staticmethod
    def first(wrong: ValidationError) -> str:
        """Where the first thing is wrong, and what."""
        error = wrong.errors(include_url=False, include_input=False)[0]
        return f"at {'.'.join(str(part) for part in error['loc']) or 'the whole'}: {error['msg']}"

    def bad(self, what: str) -> BadInput:
        """The error that refuses this file."""
        mend = "reinstall memflow" if self.dataset.ships else f"get the file again: {self.dataset.how}"
        return BadInput(f"{self.dataset.name}: {self.source}: {what}; {mend}")


Reader = Callable[[File], Iterable[tuple[str, Any]]]
"""The records of a file: their ids and what was published. Raises BadInput."""


def records_of(dataset: Dataset, files: Mapping[str, Path], reader: Callable[[str], Reader]) -> list[Record]:
    """Every record of a data set's files, each with its sum, licence and origin, in their order.

    `files` are its files by their path in the data folder, `reader` who reads the one of such a path. Raises BadInput,
    also where an id is there twice.
    """
    found: list[Record] = []
    seen: set[str] = set()
    for source, path in files.items():
        file = File(dataset, source, path.read_bytes())
        sha256 = hashlib.sha256(file.content).hexdigest()
        for record_id, raw in reader(source)(file):
            if record_id in seen:
                raise file.bad(f"the id {record_id} is there twice")
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
