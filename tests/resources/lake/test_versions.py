"""Kept versions of the lake: earlier moments, shared files, killed writers and concurrent ones."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import pytest
from timed_lake import START, hour, timed_lake
from valid_rows import valid_rows

from memflow.errors import BadInput, MissingData
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.past import PastLake
from memflow.resources.lake.snapshots import snapshot_of
from memflow.resources.lake.versions import kept_files
from memflow.resources.publishing.warehouse import Warehouse

TABLE = "score.verdicts"
ROWS = valid_rows()[TABLE][:4]


@pytest.fixture
def lake(tmp_path):
    return timed_lake(tmp_path)


def test_lake_as_of_returns_rows_and_metadata_of_that_moment(lake):
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="one", meta={"run": "r1"})
    lake.write(TABLE, "d/a", ROWS, fingerprint="two", meta={"run": "r2"})
    lake.write(TABLE, "d/b", [], fingerprint="three")
    past = PastLake(lake, hour(1))
    assert past.read(TABLE, "d/a") == ROWS[:1]
    assert past.arrow(TABLE, "d/a").num_rows == len(list(past.columns(TABLE, "d/a", ("value",)))) == 1
    facts = past.facts(TABLE, "d/a")
    assert (facts.fingerprint, facts.run, facts.rows) == ("one", "r1", 1)
    assert past.partitions(TABLE) == past.current_partitions(TABLE) == ["d/a"]
    assert PastLake(lake, hour(0)).partitions(TABLE) == []
    assert PastLake(lake, hour(3)).read(TABLE, "d/a") == lake.read(TABLE, "d/a") == ROWS
    with pytest.raises(MissingData, match="as of 2026-01-01 00:30:00 UTC did not exist yet"):
        PastLake(lake, hour(0)).read(TABLE, "d/a")
    with pytest.raises(BadInput, match="cannot be changed"):
        past.write(TABLE, "d/a", [], fingerprint="")


def test_lake_versions_are_intervals_that_meet_newest_first(lake):
    for number in (1, 2, 3):
        lake.write(TABLE, "d/a", ROWS[:number], fingerprint=str(number))
    found = lake.versions(TABLE, "d/a")
    assert [version.facts.rows for version in found] == [3, 2, 1]
    assert found[0].facts == lake.facts(TABLE, "d/a")
    times = [START + timedelta(hours=number) for number in (1, 2, 3)]
    assert [(version.since, version.until) for version in reversed(found)] == list(
        zip(times, [*times[1:], None], strict=True)
    )
    assert lake.versions(TABLE, "d/b") == []


def test_rows_that_come_back_are_versions_of_their_own(lake):
    for rows in (ROWS[:1], ROWS[:2], ROWS[:1], ROWS[:2]):
        lake.write(TABLE, "d/a", rows, fingerprint="")
    assert [version.facts.rows for version in lake.versions(TABLE, "d/a")] == [2, 1, 2, 1]
    assert [len(PastLake(lake, hour(number)).read(TABLE, "d/a")) for number in (1, 2, 3, 4)] == [1, 2, 1, 2]


def test_write_of_equal_rows_and_metadata_is_no_version(lake):
    for run in ("r1", "r1", "r2"):
        lake.write(TABLE, "d/a", ROWS, fingerprint="f", meta={"run": run})
    assert [version.facts.run for version in lake.versions(TABLE, "d/a")] == ["r2", "r1"]
    assert [file.is_removed for file in kept_files(lake.storage, TABLE)["d/a"]] == [
        True
    ]  # rows are stored once
    assert PastLake(lake, hour(2)).facts(TABLE, "d/a").run == "r1"
    assert PastLake(lake, hour(2)).read(TABLE, "d/a") == ROWS


def test_measured_values_of_an_earlier_moment_are_kept(lake):
    reply = valid_rows()["answer.replies"][0]
    slow, fast = (type(reply)(**{**vars_of(reply), "latency_s": seconds}) for seconds in (9.0, 0.1))
    digests = {lake.write("answer.replies", "d/a", [row], fingerprint="").digest for row in (slow, fast)}
    assert len(digests) == 1
    assert PastLake(lake, hour(1)).read("answer.replies", "d/a") == [slow]


def vars_of(row):
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def test_past_view_does_not_change_when_the_partition_is_replaced_while_it_is_open(lake, tmp_path):
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="")
    past = PastLake(lake, hour(1))
    assert past.partitions(TABLE) == ["d/a"]
    lake.write(TABLE, "d/a", ROWS, fingerprint="")
    assert past.read(TABLE, "d/a") == ROWS[:1]
    with snapshot_of(past, [TABLE]) as still:
        assert still.read(TABLE, "d/a") == ROWS[:1]
    assert Warehouse(past, tmp_path / "memflow.duckdb").sql(f"SELECT count(*) AS n FROM {TABLE}") == [
        {"n": 1}
    ]


def test_writer_killed_before_the_rename_leaves_the_old_state_and_no_second_version(lake, monkeypatch):
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="")

    def killed(self, target):
        if Path(target).suffix == ".parquet":
            raise KeyboardInterrupt
        return original(self, target)

    original = Path.replace
    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        lake.write(TABLE, "d/a", ROWS, fingerprint="")
    monkeypatch.undo()
    assert lake.read(TABLE, "d/a") == ROWS[:1]
    assert len(lake.versions(TABLE, "d/a")) == 1
    lake.write(TABLE, "d/a", ROWS, fingerprint="")
    assert [version.facts.rows for version in lake.versions(TABLE, "d/a")] == [len(ROWS), 1]
    assert PastLake(lake, hour(1)).read(TABLE, "d/a") == ROWS[:1]


def test_kept_rows_are_copied_on_a_disk_without_hard_links(lake, monkeypatch):
    def cannot(source, target):
        raise PermissionError("operation not permitted")

    monkeypatch.setattr("memflow.resources.lake.storage.os.link", cannot)
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="")
    lake.write(TABLE, "d/a", ROWS, fingerprint="")
    assert PastLake(lake, hour(1)).read(TABLE, "d/a") == ROWS[:1]


def write_five_times(root, name, barrier):
    lake = Lake(root)
    barrier.wait()
    for number in range(5):
        rows = [replace(ROWS[0], probe_id=f"{name}{number}")] * 2
        lake.write(TABLE, "d/a", rows, fingerprint=rows[0].probe_id)


def test_concurrent_writers_of_a_partition_lose_no_version(tmp_path):
    root, processes, names = str(tmp_path / "lake"), get_context("fork"), "wxyz"
    barrier = processes.Barrier(len(names))
    writers = [processes.Process(target=write_five_times, args=(root, name, barrier)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0] * len(names)
    lake = Lake(root)
    versions = lake.versions(TABLE, "d/a")
    written = sorted(f"{name}{number}" for name in names for number in range(5))
    assert sorted(version.facts.fingerprint for version in versions) == written
    assert all(after.since > before.since for after, before in pairwise(versions))
    for version in versions:
        rows = PastLake(lake, version.since).read(TABLE, "d/a")
        assert [row.probe_id for row in rows] == [version.facts.fingerprint] * 2
