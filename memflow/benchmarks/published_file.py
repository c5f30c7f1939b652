"""Readers of published files: text, JSON, JSON lines, CSV and records.

A file of the wrong format is rejected. An invalid record is quarantined with its location and fault. Nothing is
repaired. partial.py quarantines the parts of a record.
"""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, StringConstraints, ValidationError
from pydantic_core import from_json

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.raw_records import RawRecord, RecordFault, csv_records, first_error, json_lines
from memflow.errors import BadInput
from memflow.records import Record

M = TypeVar("M", bound=BaseModel)
Said = Annotated[str, StringConstraints(pattern=r"\S")]
"""A non-blank text, kept unchanged."""


@dataclass(frozen=True)
class File:
    """A file of a data set. `source` is its path in the data folder.

    The content of a file that is read in parts is empty; `digest` is then its SHA-256.
    """

    dataset: Dataset
    source: str
    content: bytes
    digest: str = ""

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file."""
        return self.digest or hashlib.sha256(self.content).hexdigest()

    def text(self) -> str:
        """Return the whole file as text. Raises BadInput if the text is not UTF-8."""
        try:
            return self._text()
        except RecordFault as wrong:
            raise self.bad(str(wrong)) from wrong

    def json(self) -> Any:
        """Parse the file as JSON. Raises BadInput."""
        try:
            return self._json()
        except RecordFault as wrong:
            raise self.bad(str(wrong)) from wrong

    def json_list(self, items: str) -> list[Any]:
        """Parse the file as a non-empty JSON list. Raises BadInput naming the expected `items`."""
        values = self.json()
        if not isinstance(values, list) or not values:
            raise self.bad(f"the file is not a JSON list of {items}, or the list is empty")
        return values

    def json_items(self, item: str, *, start: int = 0) -> Iterator[RawRecord]:
        """Yield the items of a non-empty JSON list, located as `ITEM NUMBER`. Raises BadInput."""
        for number, content in enumerate(self.json_list(f"{item}s"), start):
            yield RawRecord(f"{item} {number}", content)

    def lines(self, *, numbered: bool = False) -> Iterator[RawRecord]:
        """Yield each non-empty line as a JSON value. With `numbered`, the id is the number of earlier lines."""
        for position, record in enumerate(json_lines(self.text())):
            yield replace(record, record_id=str(position) if numbered else "")

    def csv_header(self) -> list[str]:
        """Return the columns of a CSV file. Raises BadInput."""
        try:
            return next(csv.reader(io.StringIO(self.text(), newline="")), [])
        except csv.Error as wrong:
            raise self.bad(f"the header is invalid CSV ({wrong})") from wrong

    def csv_rows(self, *columns: str, numbered: bool = False) -> Iterator[RawRecord]:
        """Yield each row of a CSV file as a dict. With `numbered`, the id is the number of earlier rows.

        Raises BadInput if the header lacks one of `columns`.
        """
        header = self.csv_header()
        if lacking := [name for name in columns if name not in header]:
            raise self.bad(f"the header lacks the columns {', '.join(lacking)}")
        for position, record in enumerate(csv_records(self.text(), header)):
            yield replace(record, record_id=str(position) if numbered else "")

    def parquet_rows(
        self,
        columns: Callable[[Sequence[str]], Sequence[str]],
        *,
        path: Path | None = None,
        batch: int = 8,
        start: int = 0,
        numbered: bool = False,
    ) -> Iterator[RawRecord]:
        """Yield each row of a Parquet file as a dict. With `numbered`, the id is the number of earlier rows.

        `columns` returns the columns to read, given those in the file; BadInput is raised if the file lacks one.
        `path` is the file, if its content is not in memory. The first row is located as row `start`.
        """
        import pyarrow as pa  # noqa: PLC0415  (other forms need no Arrow)
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            table = pq.ParquetFile(path or io.BytesIO(self.content))
            names = table.schema_arrow.names
            wanted = list(columns(names))
            if lacking := set(wanted) - set(names):
                raise self.bad(f"the columns lack {', '.join(sorted(lacking))}")
            batches = table.iter_batches(batch, columns=wanted)
            for number, row in enumerate(row for rows in batches for row in rows.to_pylist()):
                yield RawRecord(f"row {number + start}", row, str(number) if numbered else "")
        except (pa.ArrowException, OSError) as wrong:
            reason = " ".join(str(wrong).split())[:200]
            raise self.bad(f"the file is truncated or not Parquet ({reason})") from wrong

    def whole(self, record_id: str) -> RawRecord:
        """Return the file's JSON value as one record."""
        try:
            return RawRecord("the whole file", self._json(), record_id)
        except RecordFault as wrong:
            return RawRecord("the whole file", self.content.decode(errors="replace"), record_id, str(wrong))

    def some(self, records: Iterable[RawRecord], items: str) -> Iterator[RawRecord]:
        """Yield the records. Raises BadInput naming the expected `items` if there are none."""
        empty = True
        for record in records:
            empty = False
            yield record
        if empty:
            raise self.bad(f"the file has no {items}")

    def _text(self) -> str:
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as wrong:
            raise RecordFault(f"the file is not UTF-8 (byte {wrong.start})") from wrong

    def _json(self) -> Any:
        try:
            return json.loads(self._text())
        except (ValueError, RecursionError) as wrong:
            raise RecordFault(f"the file is truncated or invalid JSON ({wrong})") from wrong

    def shaped(self, shape: type[M], content: Any, where: str) -> M:
        """Return `content` as an instance of the model `shape`. Raises BadInput with `where` and the fault."""
        try:
            return shape.model_validate(content)
        except ValidationError as wrong:
            raise self.bad(f"{where}: {first_error(wrong)}") from wrong

    def bad(self, what: str) -> BadInput:
        """Return the BadInput error for a file of the wrong format, with the file, the fault and the next step."""
        return BadInput(f"{self.dataset.name}: {self.source}: {what.removesuffix('.')}; {self._advice()}")

    def _advice(self) -> str:
        """Return the next step: download the file again if its checksum differs from the published checksum."""
        published = self.dataset.sums.get(self.source)
        if self.dataset.ships:
            return "reinstall memflow"
        if published is not None and self.sha256 != published.lower():
            return f"get the file again: {self.dataset.replacement_advice}"
        if published is not None:
            return "the file is equal to the published one: report this message to memflow"
        if self.dataset.own:
            return "fix the file, or remove its data set from memflow.toml"
        return (
            "the checksum of the published file is not known: compare the file with its source "
            f"({self.dataset.origin}), and report this message to memflow if both are equal"
        )


Reader = Callable[[File], Iterable[RawRecord]]
"""Function from a file to its records. Raises BadInput if the file does not have its form at all."""


def records_of(dataset: Dataset, files: Mapping[str, Path], reader: Callable[[str], Reader]) -> list[Record]:
    """Return the records of a data set's files in order, with checksum, license and origin.

    `files` maps paths in the data folder to files. `reader` returns the reader for a path. An invalid record, and a
    record whose id occurs before, has a reason. Raises BadInput for a file of the wrong format, for a file of several
    records that are all invalid, and if no record of the data set is valid.
    """
    found: list[Record] = []
    seen: set[str] = set()
    for source, path in files.items():
        file = File(dataset, source, path.read_bytes())
        add_records(file, reader(source)(file), found, seen)
    if found:
        require_valid(file, found, fewest=1)
    return found


def add_records(
    file: File, raws: Iterable[RawRecord], found: list[Record], seen: set[str], *, ascii_only: bool = False
) -> None:
    """Add the records of a file to `found`, and their ids to `seen`. Raises BadInput if all of several are invalid.

    With `ascii_only`, valid contents are ASCII JSON: Python stores other texts with up to four bytes a character.
    """
    sha256, first = file.sha256, len(found)
    for raw in raws:
        record = _record(file, sha256, len(found), raw, seen)
        if ascii_only and record.reason is None:
            record = replace(record, content=json.dumps(raw.content))
        found.append(record)
    require_valid(file, found[first:], fewest=2)


def valid_records(records: Iterable[Record]) -> list[Record]:
    """Return the records that are not quarantined."""
    return [record for record in records if record.reason is None]


def _record(file: File, sha256: str, position: int, raw: RawRecord, seen: set[str]) -> Record:
    # A location can contain keys of the file, which may have half of a surrogate pair too.
    where = raw.where.encode(errors="backslashreplace").decode()
    place = f"{file.source}, {where}"
    record_id = raw.record_id or place
    content, unusable = _content(raw)
    fault = unusable or raw.fault
    if unusable is not None:
        record_id = place
    if fault is None and record_id in seen:
        fault = f"the record id {record_id} occurs twice; the first record is kept"
    if record_id in seen:
        record_id = f"{record_id} ({place})"
    seen.add(record_id)
    return Record(
        dataset=file.dataset.name,
        record_id=record_id,
        position=position,
        source=file.source,
        sha256=sha256,
        licence=file.dataset.licence,
        origin=file.dataset.origin,
        content=content,
        reason=None if fault is None else f"{where}: {fault}",
    )


def _content(raw: RawRecord) -> tuple[str, str | None]:
    """Return the content of a record as JSON, and the fault of a content that cannot be stored or parsed again."""
    try:
        content = json.dumps(raw.content, ensure_ascii=False, default=str)
        content.encode()
        if raw.fault is None:
            from_json(content, cache_strings="none")
    except UnicodeEncodeError:
        fault = "a text has half of a surrogate pair, so it is not Unicode"
        return json.dumps(raw.content, default=str), fault
    except (ValueError, RecursionError) as wrong:
        return "null", f"the values are nested too deeply, or a number is too long ({wrong})"
    return content, None


def require_valid(file: File, records: Sequence[Record], fewest: int) -> None:
    """Raise BadInput if all records are invalid and their number is at least `fewest`."""
    if len(records) >= fewest and all(record.reason is not None for record in records):
        raise file.bad(f"none of its {len(records)} records is valid; {records[0].reason}")
