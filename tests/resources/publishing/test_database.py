"""memflow.duckdb: changes in a copy of the published file, and a rebuild where that file cannot be trusted."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import factories
import pytest
from measured_lake import DOMAINS, write_assistant, write_probes
from python_path import PYTHONPATH

from resources.lake.lake import Lake
from resources.publishing import database as published_database
from resources.publishing.database import publish_database
from resources.publishing.record import RECORD

COUNT = "SELECT count(*), sum(value) FROM score.verdicts"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    found = Lake(tmp_path / "lake")
    for domain in DOMAINS:
        write_probes(found, domain)
        for assistant in ("none", "full"):
            write_assistant(found, domain, assistant, 0)
    return found


@pytest.fixture
def path(lake: Lake, tmp_path: Path) -> Path:
    publish_database(lake, tmp_path / "memflow.duckdb")
    return tmp_path / "memflow.duckdb"


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list with an item for each database that is built from nothing."""
    built: list[object] = []
    create = published_database._create
    monkeypatch.setattr(
        published_database, "_create", lambda *given: (built.append(given), create(*given))[1]
    )
    return built


def rows(path: Path, text: str = COUNT) -> list[tuple[object, ...]]:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(text).fetchall()


def test_changed_partition_is_replaced_without_a_rebuild(
    lake: Lake, path: Path, builds: list[object]
) -> None:
    before = rows(path)
    write_assistant(lake, "comem_demo", "full", 1)
    publish_database(lake, path)
    assert not builds
    verdicts = lake.read_all("score.verdicts", lake.partitions("score.verdicts"))
    assert rows(path) == [(before[0][0], sum(row.value or 0 for row in verdicts))]


def test_rows_of_a_removed_partition_are_deleted(lake: Lake, path: Path, builds: list[object]) -> None:
    Path(lake.path("score.verdicts", "comem_demo/full")).unlink()
    publish_database(lake, path)
    assert not builds
    assert rows(path, "SELECT DISTINCT domain || assistant FROM score.verdicts ORDER BY ALL") == [
        ("comem_demonone",),
        ("memorybench_demofull",),
        ("memorybench_demonone",),
    ]


def test_rows_of_a_deleted_leaderboard_are_deleted(lake: Lake, path: Path, builds: list[object]) -> None:
    lake.write("score.leaderboard", "all", [factories.score()], fingerprint="given")
    publish_database(lake, path)
    assert rows(path, "SELECT count(*) FROM score.leaderboard") == [(1,)]
    Path(lake.path("score.leaderboard", "all")).unlink()
    publish_database(lake, path)
    assert not builds and rows(path, "SELECT count(*) FROM score.leaderboard") == [(0,)]


def test_published_database_changed_by_another_program_is_rebuilt(
    lake: Lake, path: Path, builds: list[object]
) -> None:
    before = rows(path)
    with duckdb.connect(path) as connection:
        connection.execute("DELETE FROM score.verdicts")
    publish_database(lake, path)
    assert builds and rows(path) == before


@pytest.mark.parametrize("record", [None, "", "[]", '{"unknown": 1}'])
def test_published_database_without_a_valid_record_is_rebuilt(
    lake: Lake, path: Path, builds: list[object], record: str | None
) -> None:
    before = rows(path)
    if record is None:
        (path.parent / RECORD).unlink()
    else:
        (path.parent / RECORD).write_text(record)
    publish_database(lake, path)
    assert builds and rows(path) == before


def test_published_database_above_the_maximum_growth_is_rebuilt(
    lake: Lake, path: Path, builds: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published_database, "MOST_GROWTH", 0.9)
    publish_database(lake, path)
    assert builds


def test_empty_published_table_becomes_a_view_with_its_first_partition(lake: Lake, path: Path) -> None:
    assert rows(path, "SELECT count(*) FROM state.changes") == [(0,)]
    lake.write("state.changes", "comem_demo", [], fingerprint="")
    publish_database(lake, path)
    views = "SELECT count(*) FROM duckdb_views() WHERE schema_name = 'state' AND view_name = 'changes'"
    assert rows(path, views) == [(1,)]


def test_interrupted_publishing_keeps_the_published_file(
    lake: Lake, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(path)
    write_assistant(lake, "comem_demo", "full", 1)

    def interrupt(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(published_database, "_insert", interrupt)
        with pytest.raises(KeyboardInterrupt):
            publish_database(lake, path)
    assert rows(path) == before
    assert [each.name for each in path.parent.glob("*memflow.duckdb*")] == ["memflow.duckdb"]
    publish_database(lake, path)
    assert rows(path) != before


def test_open_reader_keeps_its_file_while_another_is_published(lake: Lake, path: Path) -> None:
    with duckdb.connect(path, read_only=True) as connection:
        before = connection.execute(COUNT).fetchall()
        write_assistant(lake, "comem_demo", "full", 1)
        subprocess.run(
            [sys.executable, "-c", PUBLISH, lake.root, str(path), "1"],
            check=True,
            env={**os.environ, **PYTHONPATH},
        )
        assert connection.execute(COUNT).fetchall() == before
    assert rows(path) != before


PUBLISH = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from measured_lake import DOMAINS, settings_of, write_assistant
    from resources.lake.lake import Lake
    from resources.publishing.leaderboard import CachedScores, leaderboard_rows
    from resources.publishing.score_cache import NAME
    from resources.publishing.warehouse import Warehouse

    root, path, times = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    for time in range(times):
        lake = Lake(root)
        if len(sys.argv) > 4:
            write_assistant(lake, DOMAINS[time % 2], sys.argv[4], time)
        warehouse = Warehouse(lake, path)
        cached = CachedScores(path.parent / NAME, lambda name: "1")
        rows = leaderboard_rows(settings_of(path.parent), lake, warehouse, cached)
        lake.write("score.leaderboard", "all", rows, fingerprint="")
        warehouse.publish()
    """
)


def test_two_processes_publish_at_the_same_time(lake: Lake, path: Path, tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PUBLISH, lake.root, str(path), "4", assistant],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **PYTHONPATH},
        )
        for assistant in ("full", "bm25_message")
    ]
    errors = [each.communicate(timeout=300)[1] for each in processes]
    assert [each.returncode for each in processes] == [0, 0], errors
    subprocess.run(
        [sys.executable, "-c", PUBLISH, lake.root, str(path), "1"],
        check=True,
        env={**os.environ, **PYTHONPATH},
    )
    published = {
        table: rows(path, f"FROM {table} ORDER BY ALL") for table in ("score.verdicts", "score.leaderboard")
    }
    for name in (path, path.parent / ".cache"):
        shutil.rmtree(name) if name.is_dir() else name.unlink()
    subprocess.run(
        [sys.executable, "-c", PUBLISH, lake.root, str(path), "1"],
        check=True,
        env={**os.environ, **PYTHONPATH},
    )
    assert published == {table: rows(path, f"FROM {table} ORDER BY ALL") for table in published}
