"""Reading of rows from JSONL and CSV files, each with its location. dialogues.py validates the rows."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

from memflow.benchmarks.dialogues.schema import LISTS, MARKS, ROWS
from memflow.benchmarks.own_files import FileProblem
from memflow.benchmarks.raw_records import csv_records, json_lines
from memflow.suggestions import unknown_name

DELIMITERS = (",", ";", "\t")
LIST_SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of a file. `fault` is the error of a row that cannot be parsed; `content` is then its text."""

    file: str
    where: str
    content: Any
    fault: str | None = None


class FileFault(Exception):
    """The exception for a file that cannot be read at all. It contains all problems of the file."""

    def __init__(self, problems: Sequence[FileProblem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def read_rows(name: str, content: bytes) -> Iterator[SourceRow]:
    """Yield the rows of a file; the ending of its name states the format. Raises FileFault."""
    ending = PurePath(name).suffix.lower()
    if ending not in READERS:
        known = ", ".join(READERS)
        raise _fault(
            name,
            "the file",
            f"the ending {ending or 'of the name'} is not supported; convert it to one of: {known}",
        )
    if not content.strip():
        raise _fault(name, "line 1", "the file is empty; write at least one dialogue")
    return READERS[ending](name, content)


def kind_of(content: Mapping[str, Any]) -> str | None:
    """Return the kind of a row by its fields, also if the field that tells it is misspelled; None if no kind fits."""
    for kind, mark in MARKS.items():
        if mark in content or (kind == "dialogue" and "questions" in content):
            return kind
    for kind, mark in MARKS.items():
        if get_close_matches(mark, [str(name) for name in content], 1, 0.75):
            return kind
    return None


def _fault(file: str, where: str, text: str) -> FileFault:
    return FileFault([FileProblem(file, where, text)])


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = content[: wrong.start].count(b"\n") + 1
        text = f"byte {wrong.start:,} is not UTF-8; save the file with the encoding UTF-8"
        raise _fault(name, f"line {line}", text) from wrong


def _json_lines(name: str, content: bytes) -> Iterator[SourceRow]:
    text = _decoded(name, content)
    if text.lstrip().startswith("["):
        advice = (
            "the file is a JSON list; JSON Lines has one JSON object per line, without commas between them"
        )
        raise _fault(name, "line 1", advice)
    for line in json_lines(text, object_pairs_hook=_unique):
        if line.fault is not None:
            yield SourceRow(name, line.where, line.content, f"{line.fault}; fix the line")
        elif not isinstance(line.content, dict):
            fault = "the line is not a JSON object; write it in braces"
            yield SourceRow(name, line.where, line.content, fault)
        else:
            # A null field still tells the kind of a row.
            marks = {mark: None for mark in MARKS.values() if mark in line.content}
            yield SourceRow(name, line.where, {**marks, **_without_null(line.content)})


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice[:60]!r} occurs twice in an object; remove one of them")
    return found


def _without_null(value: Any) -> Any:
    """Return a JSON value without the null fields of its objects, at any depth."""
    if isinstance(value, dict):
        return {name: _without_null(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_null(each) for each in value]
    return value


def _csv(name: str, content: bytes) -> Iterator[SourceRow]:
    text = _decoded(name, content)
    limit = csv.field_size_limit(sys.maxsize >> 1)
    try:
        yield from _csv_rows(name, text)
    finally:
        csv.field_size_limit(limit)


def _csv_rows(name: str, text: str) -> Iterator[SourceRow]:
    def header_with(delimiter: str) -> list[str]:
        try:
            first = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
        except csv.Error:
            return []
        return [each.strip() for each in first]

    known = {field for model in ROWS.values() for field in model.model_fields}
    delimiter = max(DELIMITERS, key=lambda each: len(known.intersection(header_with(each))))
    header = header_with(delimiter)
    mark = _checked_mark(name, "line 1", header)
    for row in csv_records(text, header, delimiter=delimiter, strict=True):
        if row.fault is None:
            content = {field: _cell(field, each) for field, each in row.content.items() if each.strip()}
            if content:
                yield SourceRow(name, row.where, {mark: None, **content})
        elif not row.content or any(map(str.strip, row.content)):  # not a row of blank cells
            advice = f"quote cells with {delimiter!r}, and close the quotation marks"
            yield SourceRow(name, row.where, row.content, f"{row.fault}; {advice}")


def _cell(field: str, text: str) -> Any:
    """Return the value of a CSV cell: a list for list fields, as JSON or divided by `|`; otherwise the text."""
    if field not in LISTS:
        return text
    plain = text.strip()
    if plain[:1] in "[{":
        try:
            return json.loads(plain)
        except (ValueError, RecursionError):
            pass  # An answer may begin with a bracket.
    if field == "gold":
        return text
    parts = [part.strip() for part in text.split(LIST_SEPARATOR)]
    if field != "slices":
        return parts
    pairs = [part.partition("=") for part in parts]
    return {key.strip(): value.strip() for key, _, value in pairs}


def _checked_mark(name: str, where: str, columns: Sequence[str]) -> str:
    """Return the field that tells the kind of the rows. Raises FileFault unless the columns are those of one kind."""
    kind = kind_of(dict.fromkeys(columns))
    if kind is None:
        marks = " or ".join(f"`{mark}`" for mark in MARKS.values())
        raise _fault(name, where, f"no column tells what the rows are; add the column {marks}")
    fields = ROWS[kind].model_fields
    problems = [
        FileProblem(name, where, f"{unknown_name('column', column, fields)}", field=column)
        for column in columns
        if column not in fields
    ]
    problems += [
        FileProblem(name, where, f"the column {fromkey!r} occurs twice; remove one", field=fromkey)
        for fromkey in dict.fromkeys(columns)
        if columns.count(fromkey) > 1
    ]
    problems += [
        FileProblem(name, where, f"the table of {kind}s lacks the column `{each}`; add it", field=each)
        for each, field in fields.items()
        if field.is_required() and each not in columns
    ]
    if problems:
        raise FileFault(problems)
    return MARKS[kind]


READERS: Mapping[str, Callable[[str, bytes], Iterator[SourceRow]]] = {
    ".jsonl": _json_lines,
    ".csv": _csv,
}
"""The readers by the ending of a file name."""
