"""Columns that change: an added nullable one reads as null in older files, another change says what to rerun."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import duckdb
import factories
import pytest
from row_types import change_columns, forget_columns

from memflow.errors import DamagedFile
from memflow.records import TABLES, columns
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.past import PastLake
from memflow.resources.lake.snapshots import snapshot_of
from memflow.resources.publishing.warehouse import Warehouse

TABLE, OLD, NEW = "score.verdicts", "d/old", "d/new"
Words = Annotated[int | None, "Words of the reply."]


@pytest.fixture
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch
    forget_columns()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path / "lake")
    verdicts = [factories.verdict(assistant="old", probe_id=f"p{n}", value=n / 2) for n in range(3)]
    lake.write(TABLE, OLD, verdicts, fingerprint="f")
    lake.write("score.leaderboard", "all", [factories.score()], fingerprint="f")
    return lake


def test_added_nullable_column_reads_as_null_in_older_files(
    lake: Lake, patch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before, moment = lake.facts(TABLE, OLD), datetime.now(UTC)
    change_columns(patch, TABLE, words=Words)
    change_columns(patch, "score.leaderboard", words=Words)
    lake = Lake(lake.root)
    row = factories.row(TABLES[TABLE], assistant="new", words=7)
    lake.write(TABLE, NEW, [row], fingerprint="g")

    assert lake.current_partitions(TABLE) == [NEW, OLD] and lake.facts(TABLE, OLD) == before
    assert [(row.value, row.words) for row in lake.read(TABLE, OLD)] == [
        (0.0, None),
        (0.5, None),
        (1.0, None),
    ]
    assert list(lake.columns(TABLE, OLD, ("words", "value")))[1] == (None, 0.5)
    assert lake.arrow(TABLE, OLD).column_names == [column.name for column in columns(TABLE)]
    assert PastLake(lake, moment).read(TABLE, OLD) == lake.read(TABLE, OLD)
    with snapshot_of(lake) as still:
        assert still.left_out == {} and still.read(TABLE, NEW) == [row]

    warehouse = Warehouse(lake, tmp_path / "memflow.duckdb")
    asked = f"SELECT assistant, count(*) AS n, max(words) AS words FROM {TABLE} GROUP BY ALL ORDER BY ALL"
    rows = [("new", 1, 7), ("old", 3, None)]
    assert [tuple(row.values()) for row in warehouse.sql(asked)] == rows
    assert warehouse.query("verdicts").left_out == {}
    with duckdb.connect(warehouse.publish(), read_only=True) as connection:
        assert connection.execute(asked).fetchall() == rows
        assert connection.execute("SELECT words FROM score.leaderboard").fetchall() == [(None,)]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"completion": None}, "`completion` was removed"),
        ({"checkpoint": Annotated[str, "Its name."]}, "`checkpoint` was int64 and is string"),
        ({"words": Annotated[int, "Words."]}, "`words` was added and cannot be null"),
        ({"category": Annotated[str, "The category."]}, "`category` could be null and cannot be null now"),
    ],
)
def test_other_change_of_a_column_names_table_column_partition_and_what_to_rerun(
    lake: Lake, patch: pytest.MonkeyPatch, tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    change_columns(patch, TABLE, **changed)
    lake = Lake(lake.root)
    sentence = (
        rf"score\.verdicts of d/old in .*d,old\.parquet has other columns than this version of memflow: {reason}\. "
        r"Run `memflow run --domain d --memory old`, which rebuilds it: .*"
    )
    assert lake.current_partitions(TABLE) == []
    with pytest.raises(DamagedFile, match=sentence):
        lake.read(TABLE, OLD)
    warehouse = Warehouse(lake, tmp_path / "memflow.duckdb")
    left_out = warehouse.sql(f"SELECT * FROM {TABLE}").left_out
    with pytest.raises(DamagedFile, match=sentence):
        raise DamagedFile(left_out[TABLE][OLD])
    warehouse.publish()
    lake.write(TABLE, OLD, [], fingerprint="f")
    assert lake.current_partitions(TABLE) == [OLD]


def test_accumulated_table_with_other_columns_begins_again_once_its_file_is_moved_away(
    lake: Lake, patch: pytest.MonkeyPatch
) -> None:
    table = "score.history"
    rows = [factories.row(TABLES[table], publication=number) for number in (1, 2)]
    lake.write(table, "all", rows[:1], fingerprint="f")
    lake.write(table, "all", rows, fingerprint="f")
    change_columns(patch, table, judge=None)
    lake = Lake(lake.root)
    sentence = r"score\.history of all in .* `judge` was removed\. No version before it .* Move the file away"
    with pytest.raises(DamagedFile, match=sentence):
        lake.accumulated(table, "all")
    lake.storage.delete("score/history/all.parquet")
    assert lake.accumulated(table, "all") == []
