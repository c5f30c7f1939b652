"""Extensions of commands by a benchmark that reads files in a format for everybody's own data.

`memflow data check FILE` and `memflow init --data FILE` use `OwnFiles`; `memflow import` uses `Conversion`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from memflow.benchmarks.views import ExportedFile


@dataclass(frozen=True, slots=True)
class FileProblem:
    """An invalid value: its file, its line or row, the error with its solution, and the item and field in the line."""

    file: str
    where: str
    text: str
    item: str = ""
    field: str = ""

    @property
    def place(self) -> str:
        """The location without the file, such as `line 3, question 2, gold`."""
        return ", ".join(part for part in (self.where, self.item, self.field) if part)

    @property
    def reason(self) -> str:
        """The problem as the reason of a row: with the name of the file, without its folder."""
        return f"{PurePath(self.file).name}, {self.place}: {self.text}"

    def __str__(self) -> str:
        return f"{self.file}, {self.place}: {self.text}"


@dataclass(frozen=True)
class InspectedFiles:
    """What files contain: for programs (`data`) and in words, and all their problems.

    `scoring` states in a sentence how the valid items are scored. `usable`: whether there is any valid item.
    """

    files: Sequence[Path]
    data: Mapping[str, Any]
    contents: str
    scoring: str
    usable: bool
    problems: Sequence[FileProblem]


@dataclass(frozen=True)
class OwnFiles:
    """The format of own files of a benchmark.

    `inspect(paths)` reads files and folders, and raises BadInput if one does not exist. `parameters` are examples of
    the domain's parameters in TOML, and `page` describes the format.
    """

    inspect: Callable[[Sequence[Path]], InspectedFiles] | str
    """The function or its import path."""
    page: str
    parameters: str = ""


@dataclass(frozen=True)
class Conversion:
    """A command of `memflow import` that converts a file of another program to own files.

    `convert(file, out)` returns the text of `out`, or raises BadInput.
    """

    name: str
    help: str
    convert: Callable[..., ExportedFile] | str
    """The function or its import path."""
    out: str
    """The default name of the file to write."""
