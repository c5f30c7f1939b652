"""Records of files before they become rows: location, content, id and fault. published_file.py reads them."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError


class RecordFault(ValueError):
    """The exception for an invalid record. The other records of its file remain valid."""


@dataclass(frozen=True)
class RawRecord:
    """A record of a file: its location, such as `line 3`, its content and its id, which may be empty.

    `fault` states the error of an invalid record, which becomes a quarantined row.
    """

    where: str
    content: Any
    record_id: str = ""
    fault: str | None = None


def json_lines(text: str, **options: Any) -> Iterator[RawRecord]:
    """Yield each non-empty line as a JSON value. `options` are those of json.loads."""
    # Not splitlines: texts hold other line separators, and JSON lets them stand.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield RawRecord(f"line {number}", json.loads(line, **options))
            except (ValueError, RecursionError) as wrong:
                fault = f"the line is truncated or invalid JSON ({wrong})"
                yield RawRecord(f"line {number}", line, fault=fault)


def csv_records(text: str, header: Sequence[str], **options: Any) -> Iterator[RawRecord]:
    """Yield each non-empty row after the first as a dict by `header`. `options` are those of csv.reader."""
    reader = csv.reader(io.StringIO(text, newline=""), **options)
    next(reader)
    while True:
        where = f"line {reader.line_num + 1}"
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as wrong:
            yield RawRecord(where, "", fault=f"the row is invalid CSV ({wrong})")
            continue
        if len(row) == len(header):
            yield RawRecord(where, dict(zip(header, row, strict=True)))
        elif row:
            fault = f"the row has {len(row)} fields, but the header has {len(header)}"
            yield RawRecord(where, row, fault=fault)


def first_error(wrong: ValidationError) -> str:
    """Return the first error of a failed validation as text, with the path of the field."""
    error = wrong.errors(include_url=False, include_input=False)[0]
    return f"at {'.'.join(str(part) for part in error['loc']) or 'the top level'}: {error['msg']}"


def parse_records(
    records: Iterable[RawRecord], parse: Callable[[Any], tuple[str, Any] | None]
) -> Iterator[RawRecord]:
    """Yield each record with the id and content that `parse` returns. If this id is empty, the record keeps its id.

    `parse` raises ValidationError or RecordFault for an invalid record, and returns None to omit a record.
    """
    for record in records:
        if record.fault is not None:
            yield record
            continue
        try:
            found = parse(record.content)
        except ValidationError as wrong:
            yield replace(record, fault=first_error(wrong))
        except RecordFault as wrong:
            yield replace(record, fault=str(wrong))
        else:
            if found is not None:
                yield replace(record, record_id=found[0] or record.record_id, content=found[1])


def validated(shape: type[BaseModel], name: str = "") -> Callable[[Any], tuple[str, Any]]:
    """Return a `parse` that validates with `shape` and returns (id, content); field `name` has the id ("": no id)."""

    def parse(content: Any) -> tuple[str, Any]:
        value = shape.model_validate(content)
        return str(getattr(value, name)) if name else "", content

    return parse
