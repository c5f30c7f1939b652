"""The event log on SQLite: the files of Dagster's own, used by several threads and processes at once."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

import dagster as dg
import pytest
import yaml
from checked_graph import ASSET, PARTITIONS, build_job, execute

from memflow.errors import EventLogError
from memflow.resources.instance.event_log import OPEN_DATABASES
from memflow.resources.instance.instance import open_instance

CHECKS = 6
SETTINGS = {
    "ours": {
        "event_log_storage": {
            "module": "memflow.resources.instance.event_log",
            "class": "SqliteEventLog",
            "config": {"base_dir": "history/runs"},
        }
    },
    "shipped": {},
}


def opened(folder: Path, storage: str = "ours") -> dg.DagsterInstance:
    folder.mkdir(exist_ok=True)
    settings = {**SETTINGS[storage], "telemetry": {"enabled": False}}
    (folder / "dagster.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return dg.DagsterInstance.from_config(str(folder))


def databases(folder: Path) -> list[Path]:
    return sorted((folder / "history/runs").glob("[!.]*.db"))


def statements(path: Path) -> set[str]:
    """Return the statements that create the tables and indexes of a database, and the revision of its schema."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        [(revision,)] = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    return {revision, *(" ".join(sql.split()) for (sql,) in found)}


def kinds(instance: dg.DagsterInstance, run_id: str) -> list[str]:
    """Return the kinds of the events of a run, in order."""
    return [
        event.get_dagster_event().event_type_value if event.is_dagster_event else event.user_message
        for event in instance.all_logs(run_id)
    ]


@pytest.mark.parametrize(("writes", "reads"), [("ours", "shipped"), ("shipped", "ours")])
def test_each_storage_reads_what_the_other_wrote(tmp_path: Path, writes: str, reads: str) -> None:
    job = build_job(CHECKS)
    with opened(tmp_path, writes) as instance:
        runs = [execute(job, instance, partition).run_id for partition in "ab"]
        written = [kinds(instance, run) for run in runs]
    with opened(tmp_path, reads) as instance:
        assert [kinds(instance, run) for run in runs] == written
        assert written[0].count("ASSET_CHECK_EVALUATION") == CHECKS and "a message" in written[0]
        assert instance.get_materialized_partitions(ASSET) == {"a", "b"}
        runs.append(execute(job, instance, "c").run_id)
    with opened(tmp_path, writes) as instance:
        assert instance.get_materialized_partitions(ASSET) == {"a", "b", "c"}
        assert kinds(instance, runs[2]) == written[0]


def test_every_database_has_the_schema_that_dagster_creates(tmp_path: Path) -> None:
    job = build_job(1)
    for storage in SETTINGS:
        with opened(tmp_path / storage, storage) as instance:
            for partition in PARTITIONS[:3]:
                execute(job, instance, partition)
    [expected] = {frozenset(statements(path)) for path in databases(tmp_path / "shipped")}
    assert {frozenset(statements(path)) for path in databases(tmp_path / "ours")} == {expected}
    assert len(databases(tmp_path / "ours")) == 4


def test_runs_in_threads_of_one_process_store_every_event(tmp_path: Path) -> None:
    """Dagster's own logging of each run would wait for the other runs for ever (see RunThreadsInstance)."""
    job = build_job(CHECKS)
    with open_instance(tmp_path) as home, ThreadPoolExecutor(6) as threads:
        instance = home.instance
        alone = kinds(instance, execute(job, instance, "a").run_id)
        started = [threads.submit(execute, job, instance, partition) for partition in PARTITIONS * 3]
        runs = [future.result(120).run_id for future in started]
        assert all(kinds(instance, run) == alone for run in runs)
        assert instance.get_materialized_partitions(ASSET) == set(PARTITIONS)


def test_few_databases_stay_open_and_all_stay_readable(tmp_path: Path) -> None:
    job = build_job(0)
    with opened(tmp_path) as instance:
        runs = [execute(job, instance, "a").run_id for _ in range(OPEN_DATABASES + 3)]
        logs = databases(tmp_path)
        assert sum(path.with_name(f"{path.name}-wal").exists() for path in logs) <= OPEN_DATABASES
        assert all(kinds(instance, run)[-1] == "PIPELINE_SUCCESS" for run in runs)


def test_watcher_receives_events_that_another_connection_writes(tmp_path: Path) -> None:
    job, seen = build_job(0), Event()
    with opened(tmp_path) as writer, opened(tmp_path) as reader:
        run_id = execute(job, writer, "a").run_id

        def note(event: dg.EventLogEntry, cursor: str) -> None:
            if event.is_dagster_event and event.get_dagster_event().is_engine_event:
                seen.set()

        reader.watch_event_logs(run_id, None, note)
        assert seen.wait(60)
        seen.clear()
        writer.report_engine_event("another", writer.get_run_by_id(run_id))
        assert seen.wait(60)
        reader.end_watch_event_logs(run_id, note)


def test_wiped_event_log_is_empty_and_usable(tmp_path: Path) -> None:
    job = build_job(1)
    with opened(tmp_path) as instance:
        before = execute(job, instance, "a").run_id
        instance.wipe()
        assert instance.get_materialized_partitions(ASSET) == set() and kinds(instance, before) == []
        assert kinds(instance, execute(job, instance, "b").run_id)[-1] == "PIPELINE_SUCCESS"


@pytest.mark.parametrize("name", ["index", "run"])
def test_damaged_database_is_reported_with_its_path(tmp_path: Path, name: str) -> None:
    with opened(tmp_path) as instance:
        run = execute(build_job(1), instance, "a").run_id
    path = tmp_path / "history/runs" / f"{run if name == 'run' else name}.db"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(EventLogError, match=rf"{path}.*restore it"), opened(tmp_path) as instance:
        instance.all_logs(run)
        instance.get_latest_materialization_event(ASSET)
