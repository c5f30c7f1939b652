"""Removal of replaced rows: by age and size, and never rows in use."""

import shutil
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timed_lake import START, hour, timed_lake
from valid_rows import valid_rows

from memflow.errors import MissingData
from memflow.resources.lake.garbage_collection import collect, collectable, kept_bytes
from memflow.resources.lake.past import PastLake

TABLE = "score.verdicts"
ROWS = valid_rows()[TABLE][:4]
ALL = 10**12
"""More bytes than any lake of these tests."""


@pytest.fixture
def lake(tmp_path):
    """Return a lake with one partition that was written four times with different rows."""
    lake = timed_lake(tmp_path)
    for number in (1, 2, 3, 4):
        lake.write(TABLE, "d/a", ROWS[:number], fingerprint="")
    return lake


def rows_at(lake, number):
    return len(PastLake(lake, hour(number)).read(TABLE, "d/a"))


def test_removal_by_age_keeps_what_was_replaced_later(lake):
    removed = collect(lake, collectable(lake, hour(2), ALL))
    assert [rows.until for rows in removed] == [START + timedelta(hours=2)]
    assert [rows_at(lake, number) for number in (2, 3, 4)] == [2, 3, 4]
    with pytest.raises(MissingData, match="was removed by `memflow doctor --clean`"):
        rows_at(lake, 1)
    assert PastLake(lake, hour(1)).removed_partitions(TABLE) == ["d/a"]
    assert len(lake.versions(TABLE, "d/a")) == 4


def test_removal_by_size_starts_with_the_oldest_rows(lake):
    before = kept_bytes(lake)
    removed = collect(lake, collectable(lake, START, before - 1))
    assert [rows.until for rows in removed] == [START + timedelta(hours=2)]
    assert kept_bytes(lake) == before - removed[0].bytes


def test_current_rows_and_the_version_before_them_are_never_removed(lake):
    collect(lake, collectable(lake, hour(9), 0))
    assert [rows_at(lake, number) for number in (3, 4)] == [3, 4]
    assert collectable(lake, hour(9), 0) == []


def test_version_before_the_current_one_is_kept_across_rewrites_with_other_metadata(lake):
    for run in ("r1", "r2"):
        lake.write(TABLE, "d/a", ROWS[:4], fingerprint="", meta={"run": run})
    collect(lake, collectable(lake, hour(9), 0))
    assert rows_at(lake, 3) == 3


def test_removal_after_later_writes_keeps_the_newest_earlier_rows(lake):
    chosen = collectable(lake, hour(9), 0)
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="")
    lake.write(TABLE, "d/a", ROWS[:4], fingerprint="")
    removed = collect(lake, chosen)
    assert removed == chosen
    assert rows_at(lake, 5) == 1


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(["d/a", "d/b"]), st.integers(0, 3)),
        st.tuples(st.just("gc"), st.integers(0, 12), st.sampled_from([0, 5_000, ALL])),
    ),
    max_size=14,
)


@given(steps=STEPS)
@settings(max_examples=60, deadline=None)
def test_every_moment_shows_what_was_written_or_reports_what_was_removed(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("lake")
    lake = timed_lake(folder)
    states = [{}]
    for step, first, second in steps:
        if step == "gc":
            collect(lake, collectable(lake, hour(first), second))
            continue
        lake.write(TABLE, first, ROWS[:second], fingerprint="")
        states.append({**states[-1], first: ROWS[:second]})
    for number, state in enumerate(states):
        past = PastLake(lake, hour(number) if number < len(states) - 1 else hour(99))
        assert past.partitions(TABLE) == sorted(state)
        removed = past.removed_partitions(TABLE)
        for partition, rows in state.items():
            if partition in removed:
                with pytest.raises(MissingData, match="removed by"):
                    past.read(TABLE, partition)
            else:
                assert past.read(TABLE, partition) == rows
    assert PastLake(lake, hour(99)).removed_partitions(TABLE) == []
    assert all(earlier_rows_exist(lake, name) for name in states[-1])
    shutil.rmtree(folder)


def earlier_rows_exist(lake, partition):
    """Return whether the rows of the newest version that differs from the current one are there, if there is one."""
    versions = lake.versions(TABLE, partition)
    earlier = [each for each in versions if each.facts.digest != versions[0].facts.digest]
    return not earlier or PastLake(lake, earlier[0].since).removed_partitions(TABLE).count(partition) == 0
