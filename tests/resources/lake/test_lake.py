"""The lake: round trips, invalid rows and files, atomic writes, snapshots and caching."""

import os
from dataclasses import replace
from pathlib import Path

import factories
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from valid_rows import valid_rows

from memflow.errors import BadInput, DamagedFile, MissingData
from memflow.records import TABLES, Variable, columns
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.snapshots import snapshot_of

PLAIN = {str: "é 中文 '\"\n", int: 7, float: 0.25, bool: True, list[str]: ["a", ""], list[float]: [0.1, -1.0]}


def row_of(table, *, nulls, **given):
    """Return a row of `table` with a value in every column, or with null in every nullable column."""
    values = {
        column.name: None if nulls and column.nullable else PLAIN[column.type] for column in columns(table)
    }
    return TABLES[table](**{**values, **given})


def entry(number, **given):
    return row_of("memory.indexes", nulls=True, entry_id=f"e{number}", **given)


def verdict(number, value):
    return row_of("score.verdicts", nulls=True, probe_id=f"p{number}", value=value)


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path / "lake")


@pytest.mark.parametrize("table", TABLES)
def test_lake_returns_the_rows_of_every_table_as_written(lake, table):
    rows = [row_of(table, nulls=False), row_of(table, nulls=True)]
    lake.write(table, "d", rows, fingerprint="r")
    assert lake.read(table, "d") == Lake(lake.root).read(table, "d") == rows


def test_lake_facts_contain_digest_fingerprint_row_count_and_metadata(lake):
    rows = [verdict(1, 1.0), verdict(2, None)]
    lake.write("score.verdicts", "d/full", rows, fingerprint="made from x", meta={"licence": "CC BY é"})
    facts = lake.facts("score.verdicts", "d/full")
    assert (facts.fingerprint, facts.rows) == ("made from x", 2)
    assert facts.meta == {"licence": "CC BY é"}
    assert lake.facts("score.verdicts", "d/other") is None


def test_time_scores_do_not_change_the_leaderboard_digest(lake):
    accuracy, time = (
        row_of("score.leaderboard", nulls=False, metric=name) for name in ("accuracy", "write_time")
    )
    boards = [[accuracy, time], [accuracy, replace(time, value=0.9)], [replace(accuracy, value=0.9), time]]
    facts = [lake.write("score.leaderboard", "all", board, fingerprint="") for board in boards]
    assert facts[0].digest == facts[1].digest != facts[2].digest
    assert facts[0].rows == 2


@pytest.mark.parametrize(
    "name",
    [
        "amemgym_demo",
        "amemgym_demo/rag_2_4_30@qwen",
        "amemgym_base~2/full",
        "a,b/c%2Fd",
        "../../etc",
        "ü 中",
        ".hidden",
        "a*[b]?",
    ],
)
def test_lake_escapes_partition_names_in_paths_and_restores_them(lake, name):
    lake.write("score.verdicts", name, [], fingerprint="")
    assert lake.partitions("score.verdicts") == [name]
    assert Path(lake.path("score.verdicts", name)).parent == Path(lake.folder("score.verdicts"))
    assert lake.facts("score.verdicts", name) is not None


def test_lake_lists_partitions_sorted_and_reads_them_in_the_given_order(lake):
    for name in ("b", "a", "c"):
        lake.write(
            "score.verdicts", name, [row_of("score.verdicts", nulls=True, domain=name)], fingerprint=""
        )
    assert lake.partitions("score.verdicts") == ["a", "b", "c"]
    assert [row.domain for row in lake.read_all("score.verdicts", ["c", "a"])] == ["c", "a"]
    assert lake.partitions("question.probes") == []


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("value", "0.5", "'0.5'"),
        ("value", float("nan"), "nan"),
        ("value", True, "True"),
        ("checkpoint", 1.0, "1.0"),
        ("checkpoint", None, "None"),
        ("checkpoint", 2**70, str(2**70)),
        ("metric", None, "None"),
        ("metric", b"f1", "b'f1'"),
        ("metric", "\ud800", "ud800"),
    ],
)
def test_lake_write_names_column_and_row_of_a_value_of_the_wrong_type(lake, column, value, told):
    rows = [verdict(1, 1.0), replace(verdict(2, 1.0), **{column: value})]
    with pytest.raises(BadInput) as wrong:
        lake.write("score.verdicts", "d/a", rows, fingerprint="")
    assert f"score.verdicts.{column} of row 1" in str(wrong.value)
    assert "probe_id='p2'" in str(wrong.value)
    assert told in str(wrong.value)
    assert lake.partitions("score.verdicts") == []


def test_lake_converts_an_integer_in_a_float_column_to_float(lake):
    whole, exact = (
        lake.write("score.verdicts", "d/a", [verdict(1, value)], fingerprint="") for value in (1, 1.0)
    )
    assert whole.digest == exact.digest
    assert isinstance(lake.read("score.verdicts", "d/a")[0].value, float)


def test_lake_write_rejects_a_list_with_an_item_of_the_wrong_type(lake):
    row = Variable(domain="d", user_id="u", variable="v", choices=["a", 1], questions=[])
    with pytest.raises(BadInput, match=r"state\.variables\.choices of row 0 .* list\[str\]"):
        lake.write("state.variables", "d", [row], fingerprint="")


def test_lake_write_rejects_an_unknown_table_or_a_row_of_another_table(lake):
    with pytest.raises(BadInput, match=r"row 0 of the table score\.verdicts is a Entry, not a Verdict"):
        lake.write("score.verdicts", "d/a", [entry(1)], fingerprint="")
    with pytest.raises(BadInput, match=r"there is no table 'score\.verdict'"):
        lake.write("score.verdict", "d/a", [], fingerprint="")


def test_missing_partition_error_names_the_asset_to_materialize(lake):
    with pytest.raises(
        MissingData, match=r"question\.probes of amemgym_demo .* Materialize the asset question/probes"
    ):
        lake.read("question.probes", "amemgym_demo")


@pytest.mark.parametrize(
    ("table", "partition", "damage", "reason", "command"),
    [
        (
            "memory.transcripts",
            "d/a",
            "truncated",
            "its end is missing",
            "`memflow run --domain d --memory a`",
        ),
        ("score.verdicts", "d/a@m", "foreign", "memflow did not", "`memflow run --domain d --assistant a@m`"),
        ("score.leaderboard", "all", "no Parquet", "its end is missing", "`memflow run`"),
    ],
)
def test_damaged_file_error_names_the_command_that_rebuilds_the_partition(
    lake, table, partition, damage, reason, command
):
    lake.write(table, partition, [row_of(table, nulls=True)], fingerprint="")
    path = Path(lake.path(table, partition))
    if damage == "foreign":
        pq.write_table(pa.table({"x": [1]}), path)
    else:
        path.write_bytes(b"PAR1" if damage == "no Parquet" else path.read_bytes()[:-20])
    for look in (lake.read, lake.facts):
        with pytest.raises(
            DamagedFile, match=rf"{table} of {partition} in .* is damaged: {reason}.*{command}"
        ):
            look(table, partition)


def test_failed_lake_write_keeps_the_old_partition_file(lake, monkeypatch):
    lake.write("score.verdicts", "d/a", [verdict(1, 1.0)], fingerprint="old")

    def full(descriptor):
        raise OSError("no space left on device")

    monkeypatch.setattr("memflow.resources.lake.storage.os.fsync", full)
    with pytest.raises(OSError, match="no space left"):
        lake.write("score.verdicts", "d/a", [verdict(2, 1.0)], fingerprint="new")
    assert lake.facts("score.verdicts", "d/a").fingerprint == "old"
    (Path(lake.folder("score.verdicts")) / ".d,b.0123.writing").write_bytes(b"half")
    assert lake.partitions("score.verdicts") == ["d/a"]
    (Path(lake.folder("score.verdicts")) / ".d,b.0123.writing").unlink()
    assert [path.name for path in Path(lake.folder("score.verdicts")).iterdir()] == ["d,a.parquet"]


def test_lake_snapshot_does_not_change_during_writes_and_is_deleted(lake):
    lake.write("score.verdicts", "d/a", [verdict(1, 1.0)], fingerprint="old")
    with snapshot_of(lake) as still:
        lake.write("score.verdicts", "d/a", [verdict(2, 0.5)], fingerprint="new")
        lake.write("score.verdicts", "d/b", [], fingerprint="new")
        assert still.read("score.verdicts", "d/a") == [verdict(1, 1.0)]
        assert still.partitions("score.verdicts") == ["d/a"]
    assert lake.read("score.verdicts", "d/a") == [verdict(2, 0.5)]
    assert list((Path(lake.root) / ".snapshots").iterdir()) == []


def test_new_lake_snapshot_deletes_only_old_snapshots(lake):
    old, young = (Path(lake.root) / ".snapshots" / name for name in ("old", "young"))
    for left in (old, young):
        (left / "score").mkdir(parents=True)
    os.utime(old, (1, 1))
    with snapshot_of(lake):
        assert not old.exists()
        assert young.exists()


def test_lake_snapshot_returns_the_lake_itself_if_hard_links_fail(lake, monkeypatch):
    def cannot(self, target):
        raise PermissionError("operation not permitted")

    lake.write("score.verdicts", "d/a", [], fingerprint="")
    monkeypatch.setattr(Path, "hardlink_to", cannot)
    with snapshot_of(lake) as still:
        assert still is lake
    assert list((Path(lake.root) / ".snapshots").iterdir()) == []


def test_lake_accepts_missing_and_integer_vectors_and_rejects_nan(lake) -> None:
    rows = [entry(0, vector=[1, 0.5]), entry(1)]
    lake.write("memory.indexes", "d/a", rows, fingerprint="r")
    assert lake.read("memory.indexes", "d/a") == [entry(0, vector=[1.0, 0.5]), entry(1)]
    assert lake.read("memory.indexes", "d/a", vectors=False) == [replace(row, vector=None) for row in rows]
    assert "vector" not in lake.arrow("memory.indexes", "d/a", vectors=False).column_names
    for wrong in ([float("nan")], [1.0, float("inf")], [True], ["1"], [1, float("nan")]):
        with pytest.raises(BadInput, match="vector of row 0"):
            lake.write("memory.indexes", "d/a", [entry(0, vector=wrong)], fingerprint="r")


ROWS = st.lists(st.builds(factories.reply, parsed=st.none() | st.text(max_size=4)), max_size=4)


@given(rows=ROWS, other=ROWS)
@settings(max_examples=50, deadline=None)
def test_digests_are_equal_exactly_for_equal_rows_without_measured_columns(tmp_path_factory, rows, other):
    measured = [replace(row, latency_s=9.0, prompt_tokens=7) for row in rows]
    lake = Lake(tmp_path_factory.mktemp("lake"))
    digests = [
        lake.write("answer.replies", "d/a", each, fingerprint="").digest for each in (rows, measured, other)
    ]
    assert digests[0] == digests[1]
    assert (digests[0] == digests[2]) == (rows == other)


def test_lake_reads_a_file_again_that_another_process_replaced(tmp_path):
    lake, other = Lake(tmp_path), Lake(tmp_path)
    rows = valid_rows()["question.probes"]
    lake.write("question.probes", "d", rows, fingerprint="")
    for count in (3, 2):
        other.write("question.probes", "d", rows[:count], fingerprint="")
        assert lake.read("question.probes", "d") == rows[:count]
        assert lake.read("question.probes", "d") == rows[:count]
    Path(lake.path("question.probes", "d")).unlink()
    with pytest.raises(MissingData):
        lake.read("question.probes", "d")


def test_lake_returns_only_the_rows_of_the_given_episodes(lake):
    rows = [replace(verdict(number, 1.0), episode_id=f"e{number % 3}") for number in range(9)]
    lake.write("score.verdicts", "d/m", rows, fingerprint="")
    found = list(lake.stream("score.verdicts", "d/m", episodes={"e0", "e2"}))
    assert found == [row for row in rows if row.episode_id != "e1"]
    assert lake.read("score.verdicts", "d/m") == rows


def test_lake_columns_returns_the_column_values_of_the_written_rows(lake):
    rows = [verdict(number, None if number % 2 else 0.5) for number in range(9_000)]  # two row groups
    lake.write("score.verdicts", "d/m", rows, fingerprint="")
    found = list(lake.columns("score.verdicts", "d/m", ("value", "probe_id")))
    assert found == [(row.value, row.probe_id) for row in rows]
    with pytest.raises(MissingData):
        list(lake.columns("score.verdicts", "d/other", ("value",)))
