"""Row groups: equal results for any size of the groups, interrupted writes, and row numbers in messages."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import factories
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.errors import BadInput
from memflow.records import columns
from memflow.resources.lake.columns import from_array, to_arrays
from memflow.resources.lake.lake import Lake

TEXTS = st.sampled_from(["", "a", "ab", "中文"])
ENTRIES = st.builds(
    factories.entry,
    entry_id=TEXTS,
    text=TEXTS,
    sources=st.lists(TEXTS, max_size=3),
    until=st.none() | st.integers(0, 9),
    role=st.none() | TEXTS,
    vector=st.none() | st.lists(st.floats(-1, 1), max_size=3),
)


@given(rows=st.lists(ENTRIES, max_size=12), size=st.integers(1, 13))
def test_row_groups_of_any_size_give_the_same_rows_and_facts(rows, size):
    with TemporaryDirectory() as folder, patch("memflow.resources.lake.row_groups.VECTOR_GROUP_ROWS", size):
        lake = Lake(folder)
        facts = lake.write("memory.indexes", "d/a", iter(rows), fingerprint="f", meta={"run": "r"})
        parquet = pq.read_metadata(lake.path("memory.indexes", "d/a"))
        assert parquet.num_row_groups == -(-len(rows) // size)
        assert facts.rows == len(rows)
        assert Lake(folder).facts("memory.indexes", "d/a") == facts
        assert lake.read("memory.indexes", "d/a") == rows
        assert sum(batch.num_rows for batch in lake.batches("memory.indexes", "d/a")) == len(rows)


@given(rows=st.lists(ENTRIES, max_size=12), first=st.integers(0, 12))
def test_from_array_restores_the_values_that_to_arrays_converted(rows, first):
    arrays = to_arrays("memory.indexes", rows)
    for column, array in zip(columns("memory.indexes"), arrays, strict=True):
        values = [getattr(row, column.name) for row in rows]
        assert from_array(array) == values
        assert from_array(array[first:]) == values[first:]


def test_lake_write_keeps_the_old_file_if_reading_the_rows_raises(tmp_path, monkeypatch):
    monkeypatch.setattr("memflow.resources.lake.row_groups.VECTOR_GROUP_ROWS", 2)
    lake = Lake(tmp_path)
    old = [factories.entry(entry_id="old")]
    facts = lake.write("memory.indexes", "d/a", old, fingerprint="f")

    def rows():
        yield from (factories.entry(entry_id=f"e{number}") for number in range(5))
        raise ConnectionError("the model is gone")

    with pytest.raises(ConnectionError, match="the model is gone"):
        lake.write("memory.indexes", "d/a", rows(), fingerprint="new")
    assert (lake.facts("memory.indexes", "d/a"), lake.read("memory.indexes", "d/a")) == (facts, old)
    assert [path.name for path in Path(lake.folder("memory.indexes")).iterdir()] == ["d,a.parquet"]


def test_write_names_the_number_of_an_invalid_row_in_a_later_group(tmp_path, monkeypatch):
    monkeypatch.setattr("memflow.resources.lake.row_groups.VECTOR_GROUP_ROWS", 2)
    rows = [factories.entry(entry_id=f"e{number}") for number in range(5)]
    rows[3] = factories.entry(entry_id="e3", text=7)
    with pytest.raises(BadInput, match=r"memory\.indexes\.text of row 3 .* is 7, not str"):
        Lake(tmp_path).write("memory.indexes", "d/a", iter(rows), fingerprint="f")
    rows[3] = factories.entry(entry_id="e3", text="\ud800")
    with pytest.raises(BadInput, match=r"memory\.indexes\.text of row 3 "):
        Lake(tmp_path).write("memory.indexes", "d/a", iter(rows), fingerprint="f")


@given(rows=st.lists(ENTRIES, max_size=12), size=st.integers(1, 13), episodes=st.sets(TEXTS))
def test_rows_of_episodes_are_equal_for_row_groups_of_any_size(rows, size, episodes):
    rows = [replace(row, episode_id=row.entry_id) for row in rows]
    with TemporaryDirectory() as folder, patch("memflow.resources.lake.row_groups.VECTOR_GROUP_ROWS", size):
        lake = Lake(folder)
        lake.write("memory.indexes", "d/a", rows, fingerprint="")
        found = list(lake.stream("memory.indexes", "d/a", episodes=episodes))
    assert found == [row for row in rows if row.episode_id in episodes]


def test_row_groups_without_a_wanted_episode_are_not_read(tmp_path):
    rows = [factories.entry(entry_id=str(at), episode_id=f"e{at // 2}") for at in range(6)]
    with patch("memflow.resources.lake.row_groups.VECTOR_GROUP_ROWS", 2):
        lake = Lake(str(tmp_path))
        lake.write("memory.indexes", "d/a", rows, fingerprint="")
        read = pq.ParquetFile.iter_batches
        with patch.object(pq.ParquetFile, "iter_batches", autospec=True, side_effect=read) as reading:
            assert list(lake.stream("memory.indexes", "d/a", episodes={"e1"})) == rows[2:4]
    assert reading.call_args.args[2] == [1]
