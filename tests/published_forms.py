"""The forms of published files: serialization of a list of records, with records that are cut short."""

import csv
import io
import json
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Write = Callable[[Sequence[Any]], bytes]


@dataclass(frozen=True)
class CutShort:
    """A record whose serialized text ends early."""

    record: Any


@dataclass(frozen=True)
class PublishedFile:
    """A file of a data set. `field` is the path of a required text or list in each record.

    `beside` has the other files of the data set. In forms with `rows`, a record can be cut short without damage to the
    file's other records.
    """

    name: str
    dataset: str
    source: str
    records: Sequence[Any]
    field: tuple[Any, ...]
    write: Write
    beside: tuple[tuple[str, bytes], ...] = ()
    rows: bool = False
    may_be_blank: bool = False


def json_list(records: Sequence[Any]) -> bytes:
    return json.dumps(list(records), ensure_ascii=False).encode()


def json_lines(records: Sequence[Any]) -> bytes:
    return "".join(f"{_text(record)}\n" for record in records).encode()


def _text(record: Any) -> str:
    if isinstance(record, CutShort):
        return json.dumps(record.record, ensure_ascii=False)[:-9]
    return json.dumps(record, ensure_ascii=False)


def csv_of(*columns: str) -> Write:
    def write(records: Sequence[Any]) -> bytes:
        text = io.StringIO()
        csv.writer(text).writerow(columns)
        for each in records:
            values = (
                [each.record[columns[0]]] if isinstance(each, CutShort) else [each.get(n) for n in columns]
            )
            csv.writer(text).writerow(values)
        return text.getvalue().encode()

    return write


def parquet(records: Sequence[Any]) -> bytes:
    names = dict.fromkeys(name for record in records for name in record)
    table = pa.table({name: pa.array([record.get(name) for record in records]) for name in names})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def script(records: Sequence[Any]) -> bytes:
    """Serialize sessions of a television script; a session cut short lacks its lines."""
    found = []
    for each in records:
        session = {**each.record, "text": ""} if isinstance(each, CutShort) else each
        head = (
            f"[Date: {session['date']}, Session #{session['session']}]"
            if "date" in session
            else "[Date: , 7]"
        )
        found.append(f"{head}\n\n{session.get('text') or 'Ann: '}\n\n")
    return "".join(found).encode()


def pickled(records: Sequence[Any]) -> bytes:
    return pickle.dumps({"S01E01": dict(enumerate(records, start=1))})


def inside(*path: str) -> Write:
    """Return a function that serializes the records as a list below these keys of a JSON object."""

    def write(records: Sequence[Any]) -> bytes:
        value: Any = list(records)
        for key in reversed(path):
            value = {key: value}
        return json.dumps(value, ensure_ascii=False).encode()

    return write
