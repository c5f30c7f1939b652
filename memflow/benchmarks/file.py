"""A published file as readers take it: its text, its JSON lines, and how it is refused.

A file that is not what it should be is refused whole, with a message that says where; nothing is repaired.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, StringConstraints, ValidationError

from memflow.datasets import Dataset
from memflow.errors import BadInput

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

    def lines(self, shape: type[M]) -> Iterator[tuple[dict[str, Any], M]]:
        """Each line's JSON, as it stands and as `shape` reads it; empty lines are passed over. Raises BadInput."""
        # Not splitlines: texts hold other line separators, and JSON lets them stand.
        for number, line in enumerate(self.text().split("\n"), start=1):
            if line.strip():
                try:
                    raw = json.loads(line)
                except json.JSONDecodeError as wrong:
                    raise self.bad(f"line {number} is cut off or not JSON ({wrong})") from wrong
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
