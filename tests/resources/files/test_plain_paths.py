"""Paths with any character: each store opens the file at the path, and no other."""

from pathlib import Path

import duckdb
import pytest
from ledger_rows import completion, find, store
from valid_rows import valid_rows

from memflow.errors import BadSettings
from resources.files.plain_paths import plain_path
from resources.files.sqlite_urls import sqlite_path, sqlite_url
from resources.instance.instance import dagster_home, open_instance
from resources.lake.lake import Lake
from resources.ledger.sql_ledger import SqlLedger
from resources.publishing.warehouse import Warehouse

NAMES = ["a?b", "a#b", "a%20b%3F", "a 'b' \"c\"", "é漢😀", "k=v&x=y;*[z]", "q?x=1#%20 é"]


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


def test_sqlite_url_with_an_unescaped_question_mark_is_rejected_with_the_right_url(tmp_path: Path) -> None:
    with pytest.raises(BadSettings) as caught:
        SqlLedger(f"sqlite:///{tmp_path}/a?b/ledger.sqlite")
    right = str(caught.value).split("`")[-2]
    assert sqlite_path(right) == tmp_path / "a?b/ledger.sqlite"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a?b", "k=v #%20 é?"])
def test_instance_is_in_the_home_folder(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "links"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "links").mkdir()
    home = tmp_path / name
    with open_instance(home) as opened:
        assert opened.instance.get_runs_count() == 0
    assert "?" not in str(dagster_home(home))
    assert {"dagster.yaml", "history"} <= {path.name for path in (home / "dagster").iterdir()}
    assert {path.name for path in tmp_path.iterdir()} == {"links", name}


@pytest.mark.parametrize("name", NAMES)
def test_tables_of_a_lake_have_their_columns_and_rows_at_any_path(tmp_path: Path, name: str) -> None:
    lake = Lake(tmp_path / name / "lake")
    rows = valid_rows()["score.verdicts"][:2]
    lake.write("score.verdicts", "d/a", rows, fingerprint="f")
    warehouse = Warehouse(lake, tmp_path / name / "memflow.duckdb")
    assert warehouse.sql("select count(*) as number from score.verdicts") == [{"number": 2}]
    written = warehouse.publish()
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"ATTACH '{plain_copy(written, tmp_path)}' AS published")
        assert connection.execute("select count(*) from published.score.verdicts").fetchone() == (2,)
    assert "c" not in warehouse.sql("select * from score.verdicts").columns


def plain_copy(file: Path, folder: Path) -> Path:
    copy = folder / "copy.duckdb"
    copy.write_bytes(file.read_bytes())
    return copy


def test_plain_path_leads_to_the_folder_and_is_the_same_for_all(tmp_path: Path) -> None:
    folder = tmp_path / "a?b" / "deeper"
    (plain_path(folder)).mkdir(parents=True)
    assert folder.is_dir() and "?" not in str(plain_path(folder))
    assert plain_path(folder) == plain_path(folder)
    assert plain_path(tmp_path) == tmp_path
