"""Quarantine of the records of files, and rejection of files. test_damaged_records.py has files of every form."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.published_file import File, records_of, valid_records
from memflow.benchmarks.raw_records import RawRecord
from memflow.errors import BadInput
from memflow.records import Record

DATASET = Dataset("d", "D", "b", ("f",), "none", "the origin", "Download f.")


def read(folder: Path, *files: list[RawRecord]) -> list[Record]:
    """Return the rows of records, given for each of the files `0`, `1`, and so on."""
    paths = {str(number): folder / str(number) for number in range(len(files))}
    for path in paths.values():
        path.write_bytes(b"x")
    return records_of(DATASET, paths, lambda source: lambda file: files[int(source)])


def test_second_record_with_the_same_id_is_quarantined_with_a_distinct_id(tmp_path: Path) -> None:
    found = read(tmp_path, [RawRecord("line 1", 1, "a")], [RawRecord("line 1", 2, "a")])
    assert [(row.record_id, row.reason is None) for row in found] == [("a", True), ("a (1, line 1)", False)]
    assert "the record id a occurs twice" in str(found[1].reason)


def test_record_with_an_unpaired_surrogate_is_quarantined(tmp_path: Path) -> None:
    found = read(tmp_path, [RawRecord("\ud800", {"id": "\ud800"}, "\ud800"), RawRecord("line 2", 1, "b")])
    assert "half of a surrogate pair" in str(found[0].reason)
    assert f"{found[0].record_id}{found[0].content}{found[0].reason}".encode()


def test_file_with_several_records_that_are_all_invalid_is_rejected(tmp_path: Path) -> None:
    invalid = [RawRecord(f"line {number}", 0, fault="cut") for number in (1, 2)]
    with pytest.raises(BadInput, match="d: 0: none of its 2 records is valid; line 1: cut"):
        read(tmp_path, invalid, [RawRecord("line 1", 1, "a")])


def test_file_with_one_invalid_record_is_rejected_unless_another_file_is_valid(
    tmp_path: Path,
) -> None:
    invalid = [RawRecord("the whole file", 0, fault="cut")]
    found = read(tmp_path, invalid, [RawRecord("line 1", 1, "a")])
    assert [row.reason is None for row in found] == [False, True]
    with pytest.raises(BadInput, match="none of its 1 records is valid"):
        read(tmp_path, invalid)


def test_parquet_reader_names_a_truncated_file_and_a_missing_column(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    rows = File(DATASET, "f", b"").parquet_rows(lambda names: ("a", "b"), path=path)
    with pytest.raises(BadInput, match="d: f: the file is truncated or not Parquet"):
        list(rows)
    pq.write_table(pa.table({"a": ["1"]}), path)
    with pytest.raises(BadInput, match="the columns lack b"):
        list(File(DATASET, "f", path.read_bytes()).parquet_rows(lambda names: ("a", "b")))


@given(st.lists(st.text(alphabet='a,"\n1', max_size=6), max_size=6))
def test_csv_reader_returns_a_complete_or_an_invalid_row_for_random_text(rows: list[str]) -> None:
    file = File(DATASET, "f", "\n".join(["x,y", *rows]).encode())
    for raw in file.csv_rows("x", "y"):
        assert raw.fault is not None or set(raw.content) == {"x", "y"}


@pytest.mark.parametrize("depth", [300, 900])
def test_record_with_deeply_nested_values_is_quarantined_and_costs_no_other_record(
    tmp_path: Path, depth: int
) -> None:
    deep = json.loads("[" * depth + "]" * depth)
    found = read(tmp_path, [RawRecord("line 1", {"id": "a", "more": deep}, "a"), RawRecord("line 2", 1, "b")])
    assert "nested too deeply" in str(found[0].reason)
    assert [row.record_id for row in valid_records(found)] == ["b"]
