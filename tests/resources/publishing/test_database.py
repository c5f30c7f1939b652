"""memflow.duckdb: it follows the lake, and is replaced atomically beside readers and other writers."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import factories
import pytest
from measured_lake import DOMAINS, write_assistant, write_probes
from python_path import PYTHONPATH

from memflow.errors import BadInput
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing import database as published_database
from memflow.resources.publishing.database import database_damage, publish_database

COUNT = "SELECT count(*), sum(value) FROM score.leaderboard"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    found = Lake(tmp_path / "lake")
    for domain in DOMAINS:
        write_probes(found, domain)
        for assistant in ("none", "full"):
            write_assistant(found, domain, assistant, 0)
    write_score(found, 0.5)
    return found


def write_score(lake: Lake, value: float) -> None:
    lake.write("score.leaderboard", "all", [factories.score(value=value)], fingerprint="")


@pytest.fixture
def path(lake: Lake, tmp_path: Path) -> Path:
    publish_database(lake, tmp_path / "memflow.duckdb")
    return tmp_path / "memflow.duckdb"


def rows(path: Path, text: str = COUNT) -> list[tuple[object, ...]]:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(text).fetchall()


def test_changed_and_removed_partitions_are_those_of_the_next_file(lake: Lake, path: Path) -> None:
    write_assistant(lake, "comem_demo", "full", 1)
    write_score(lake, 0.25)
    publish_database(lake, path)
    verdicts = lake.read_all("score.verdicts", lake.partitions("score.verdicts"))
    assert rows(path) == [(1, 0.25)]
    assert rows(path, "SELECT count(*), sum(value) FROM score.verdicts") == [
        (len(verdicts), sum(row.value or 0 for row in verdicts))
    ]
    for table, partition in (("score.verdicts", "comem_demo/full"), ("score.leaderboard", "all")):
        Path(lake.path(table, partition)).unlink()
    publish_database(lake, path)
    assert rows(path, "SELECT DISTINCT domain || assistant FROM score.verdicts ORDER BY ALL") == [
        ("comem_demonone",),
        ("memorybench_demofull",),
        ("memorybench_demonone",),
    ]
    assert rows(path) == [(0, None)]


def test_damaged_blocks_of_a_published_file_are_found(path: Path) -> None:
    assert database_damage(path) is None
    with path.open("r+b") as file:
        file.seek(9000)
        file.write(b"damaged")
    assert "DuckDB cannot read it" in (database_damage(path) or "")


def test_error_that_would_occur_again_is_not_retried(
    lake: Lake, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[object] = []

    def fail(*given: object) -> None:
        attempts.append(given)
        raise duckdb.BinderException("table verdicts has 12 columns but 13 values were supplied")

    monkeypatch.setattr(published_database, "_build", fail)
    with pytest.raises(BadInput, match=r"cannot write .*12 columns but 13 values.*Run `memflow doctor`"):
        publish_database(lake, path)
    assert len(attempts) == 1


def test_interrupted_publishing_keeps_the_published_file(
    lake: Lake, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(path)
    write_score(lake, 0.25)

    def interrupt(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(published_database, "comments", interrupt)
        with pytest.raises(KeyboardInterrupt):
            publish_database(lake, path)
    assert rows(path) == before
    assert [each.name for each in path.parent.glob("*memflow.duckdb*")] == ["memflow.duckdb"]
    publish_database(lake, path)
    assert rows(path) != before


def test_open_reader_keeps_its_file_while_another_is_published(lake: Lake, path: Path) -> None:
    with duckdb.connect(path, read_only=True) as connection:
        before = connection.execute(COUNT).fetchall()
        assert start_publishing(lake, path, "1").wait(300) == 0
        assert connection.execute(COUNT).fetchall() == before
    assert rows(path) != before


PUBLISH = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from measured_lake import DOMAINS, settings_of, write_assistant
    from memflow.resources.lake.lake import Lake
    from memflow.resources.publishing.leaderboard import leaderboard
    from memflow.resources.publishing.warehouse import Warehouse

    root, path, times = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    for time in range(times):
        lake = Lake(root)
        if len(sys.argv) > 4:
            write_assistant(lake, DOMAINS[time % 2], sys.argv[4], time)
        warehouse = Warehouse(lake, path)
        rows, meta = leaderboard(settings_of(path.parent), lake, warehouse, lambda name: "1")
        lake.write("score.leaderboard", "all", rows, fingerprint="", meta=meta)
        warehouse.publish()
    """
)


def start_publishing(lake: Lake, path: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start a process that publishes a number of times. With an assistant, it writes its tables before each."""
    command = [sys.executable, "-c", PUBLISH, lake.root, str(path), *arguments]
    return subprocess.Popen(command, env={**os.environ, **PYTHONPATH})


def test_two_processes_publish_at_the_same_time(lake: Lake, path: Path, tmp_path: Path) -> None:
    processes = [start_publishing(lake, path, "4", assistant) for assistant in ("full", "bm25_message")]
    assert [process.wait(300) for process in processes] == [0, 0]
    assert start_publishing(lake, path, "1").wait(300) == 0
    published = {
        table: rows(path, f"FROM {table} ORDER BY ALL") for table in ("score.verdicts", "score.leaderboard")
    }
    path.unlink()
    Path(lake.path("score.leaderboard", "all")).unlink()
    assert start_publishing(lake, path, "1").wait(300) == 0
    assert published == {table: rows(path, f"FROM {table} ORDER BY ALL") for table in published}
