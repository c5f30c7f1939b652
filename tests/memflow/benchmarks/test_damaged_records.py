"""Damaged twins of small files of every published form: damage of one record costs this record and no other."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from published_files import FILES
from published_forms import CutShort, PublishedFile

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Contents
from memflow.errors import BadInput
from memflow.records import Record

Damage = Callable[[Any, tuple[Any, ...]], Any]


def read(file: PublishedFile, records: list[Any]) -> tuple[list[Record], Contents]:
    """Write the data set of a file with these records, and read it."""
    files = {**dict(file.beside), file.source: file.write(records)}
    dataset = replace(registry.find_dataset(file.dataset), files=tuple(files), ships=False)
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        benchmark = registry.benchmark(dataset.benchmark)
        found = benchmark.records(dataset, {name: Path(folder) / name for name in files})
        return found, benchmark.contents(dataset, found)


def put(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of a record with another value at the path."""
    if not path:
        return value
    changed = copy.copy(record)
    changed[path[0]] = put(record[path[0]], path[1:], value)
    return changed


def without(record: Any, path: tuple[Any, ...]) -> Any:
    parent = record
    for key in path[:-1]:
        parent = parent[key]
    return put(record, path[:-1], {key: value for key, value in parent.items() if key != path[-1]})


def null(record: Any, path: tuple[Any, ...]) -> Any:
    return put(record, path, None)


def blank(record: Any, path: tuple[Any, ...]) -> Any:
    return put(record, path, " ")


def wrong_column(record: Any, path: tuple[Any, ...]) -> Any:
    parent = without(record, path)
    for key in path[:-1]:
        parent = parent[key]
    return put(without(record, path), path[:-1], {**parent, f"{path[-1]}_": "x"})


def cut_short(record: Any, path: tuple[Any, ...]) -> Any:
    return CutShort(record)


def damages(file: PublishedFile) -> list[Damage]:
    """Return the damages that a form can have: a record that is no object has no columns."""
    found: list[Damage] = [null]
    if file.field and not file.may_be_blank:
        found.append(blank)
    if file.field:
        found.append(wrong_column)
    return [*found, cut_short] if file.rows else found


CASES = [(file, damage) for file in FILES for damage in damages(file)]


@pytest.mark.parametrize(
    ("file", "damage"), CASES, ids=[f"{file.name}-{damage.__name__}" for file, damage in CASES]
)
def test_reader_quarantines_only_the_damaged_record(file: PublishedFile, damage: Damage) -> None:
    valid, contents = read(file, list(file.records))
    assert not [record.reason for record in valid if record.reason is not None] and not contents.quarantined
    damaged = [damage(each, file.field) if at == 1 else each for at, each in enumerate(file.records)]
    found, rest = read(file, damaged)
    quarantined = [record for record in found if record.reason is not None]
    assert len(quarantined) + len(rest.quarantined) == 1, [record.reason for record in found]
    assert all(record.source == file.source for record in quarantined)
    kept = {record.record_id: record.content for record in found if record.reason is None}
    before = {record.record_id: record.content for record in valid}
    changed = [name for name, content in before.items() if kept.get(name) != content]
    assert len(changed) == 1 and set(kept) <= set(before)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_reader_rejects_a_file_of_the_wrong_format(file: PublishedFile) -> None:
    other = replace(file, write=lambda records: b"\xff\xfe\x00")
    with pytest.raises(BadInput, match=file.source.rpartition("/")[2]):
        read(other, list(file.records))


@pytest.mark.parametrize("file", [file for file in FILES if len(file.field) == 1], ids=lambda file: file.name)
def test_file_whose_records_are_all_invalid_is_rejected(file: PublishedFile) -> None:
    with pytest.raises(BadInput, match="none of its 4 records is valid"):
        read(file, [null(record, file.field) for record in file.records])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_reader_rejects_an_empty_file(file: PublishedFile) -> None:
    with pytest.raises(BadInput, match=file.source.rpartition("/")[2]):
        read(replace(file, write=lambda records: b""), list(file.records))
