"""Paths with any character: each store opens the file at the path, and no other."""

from pathlib import Path

import duckdb
import pytest
from ledger_rows import completion, find, store
from valid_rows import valid_rows

from memflow.errors import BadSettings
from memflow.resources.files.sqlite_urls import sqlite_path, sqlite_url
from memflow.resources.instance.instance import open_instance
from memflow.resources.lake.lake import Lake
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import load

NAMES = ["a#b", "a%20b%3F", "a 'b' \"c\"", "é漢😀", "k=v&x=y;*[z]"]


@pytest.mark.parametrize("name", NAMES)
def test_ledger_is_written_to_the_file_at_its_path(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "ledger.sqlite"
    assert sqlite_path(sqlite_url(path)) == path
    with SqlLedger(sqlite_url(path)) as ledger:
        store(ledger, "a")
    with SqlLedger(sqlite_url(path)) as ledger:
        assert find(ledger, "a") == completion(key="a")
    assert [found.name for found in tmp_path.iterdir()] == [name]
    assert path.is_file()


def test_path_with_a_question_mark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"contains `[?]`"):
        SqlLedger(f"sqlite:///{tmp_path}/a?b/ledger.sqlite")
    with pytest.raises(BadSettings, match=r"contains `[?]`"):
        load(over={"home": tmp_path / "a?b"})
    assert list(tmp_path.iterdir()) == []


def test_instance_is_in_the_home_folder(tmp_path: Path) -> None:
    home = tmp_path / "k=v #%20 é"
    with open_instance(home) as opened:
        assert opened.instance.get_runs_count() == 0
    assert {"dagster.yaml", "history"} <= {path.name for path in (home / "dagster").iterdir()}


@pytest.mark.parametrize("name", NAMES)
def test_tables_of_a_lake_have_their_columns_and_rows_at_any_path(tmp_path: Path, name: str) -> None:
    lake = Lake(tmp_path / name / "lake")
    rows = valid_rows()["score.verdicts"][:2]
    lake.write("score.verdicts", "d/a", rows, fingerprint="f")
    warehouse = Warehouse(lake, tmp_path / name / "memflow.duckdb")
    assert warehouse.sql("select count(*) as number from score.verdicts") == [{"number": 2}]
    written = warehouse.publish()
    with duckdb.connect(written, read_only=True) as connection:
        assert connection.execute("select count(*) from score.verdicts").fetchone() == (2,)
    assert "c" not in warehouse.sql("select * from score.verdicts").columns
