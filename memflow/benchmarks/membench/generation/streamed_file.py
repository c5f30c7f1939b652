"""Line-by-line reading of files too large for memory, compressed or not, with validation.

Invalid lines are omitted from the result and listed in `StreamedFile.invalid`.
"""

import csv
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO, TypeVar, cast

from pydantic import BaseModel, ValidationError

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, first_error
from memflow.errors import BadInput

M = TypeVar("M", bound=BaseModel)
_PACKED = ".gz"


@dataclass(frozen=True)
class StreamedFile:
    """A data file on disk. `source` is its path in the data folder."""

    dataset: Dataset
    source: str
    path: Path
    invalid: dict[str, RawRecord] = field(default_factory=dict)
    """The invalid lines of the methods that were called so far, by location."""

    @contextmanager
    def open_text(self, encoding: str = "utf-8-sig") -> Iterator[TextIO]:
        """Open the file as text with unchanged line ends. Raises BadInput for a truncated file or a wrong encoding."""
        pack = gzip.open if self.source.endswith(_PACKED) else open
        try:
            with cast(TextIO, pack(self.path, "rt", encoding=encoding, newline="")) as file:
                yield file
        except UnicodeDecodeError as wrong:
            raise self.bad(
                f"the file is not {encoding.removesuffix('-sig').upper()} ({wrong.reason})"
            ) from wrong
        except (EOFError, OSError, zlib.error) as wrong:
            raise self.bad(f"the file is truncated or not compressed with gzip ({wrong})") from wrong

    def lines(self, encoding: str = "utf-8-sig") -> Iterator[str]:
        """Yield the lines with their ends. Raises BadInput."""
        with self.open_text(encoding) as file:
            yield from file

    def split_lines(self, count: int, mark: str, encoding: str = "utf-8-sig") -> Iterator[list[str]]:
        """Yield the cells of each valid non-empty line of a table without header. Raises BadInput."""
        for number, line in enumerate(self.lines(encoding), start=1):
            if line.strip():
                found = line.rstrip("\r\n").split(mark)
                if len(found) == count:
                    yield found
                else:
                    self.omit(f"line {number}", line, f"the line has {len(found)} columns instead of {count}")

    def csv_columns(self, *columns: str) -> Iterator[tuple[str, ...]]:
        """Yield the values of two or more columns for each valid row of a CSV file with a header. Raises BadInput."""
        with self.open_text() as file:
            reader = csv.reader(file, strict=True)
            try:
                header = next(reader, [])
                if lacking := [name for name in columns if name not in header]:
                    raise self.bad(f"the header lacks the columns {', '.join(lacking)}")
                wide, pick = len(header), itemgetter(*map(header.index, columns))
            except csv.Error as wrong:
                raise self.bad(f"the header is truncated or invalid CSV ({wrong})") from wrong
            while True:
                try:
                    row = next(reader)
                except StopIteration:
                    return
                except csv.Error as wrong:
                    self.omit(
                        f"line {reader.line_num}", "", f"the line is truncated or invalid CSV ({wrong})"
                    )
                    continue
                if len(row) == wide:
                    yield pick(row)
                else:
                    fault = f"the line has {len(row)} columns, but the first line has {wide}"
                    self.omit(f"line {reader.line_num}", row, fault)

    def json_lines(self, shape: type[M]) -> Iterator[M]:
        """Yield each valid non-empty JSON line as an instance of `shape`. Raises BadInput."""
        for number, line in enumerate(self.lines(), start=1):
            if line.strip():
                try:
                    yield shape.model_validate(json.loads(line))
                except ValidationError as wrong:
                    self.omit(f"line {number}", line, first_error(wrong))
                except (ValueError, RecursionError) as wrong:
                    self.omit(f"line {number}", line, f"the line is truncated or invalid JSON ({wrong})")

    def omit(self, where: str, content: Any, fault: str) -> None:
        """Add a line to the invalid lines of the file."""
        self.invalid[where] = RawRecord(where, content, fault=fault)

    def sha256(self) -> str:
        """Return the SHA-256 digest of the stored (possibly compressed) file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def bad(self, what: str) -> BadInput:
        """Return the BadInput error for a fault in this file."""
        content = self.path.read_bytes() if self.source in self.dataset.sums else b""
        return File(self.dataset, self.source, content).bad(what)
