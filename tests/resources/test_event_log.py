"""The event log on SQLite: the same rows as Dagster's own, whole batches, several writers, and errors that say more."""

import hashlib
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from checked_graph import ASSET, PARTITIONS, build_job, check_names, execute
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from memflow.errors import EventLogError
from resources import event_schema
from resources.event_log import EXPECTED, OPEN_SHARDS, SqliteEventLog
from resources.event_schema import changed_methods
from resources.instance import FORMER_SETTINGS, dagster_home, open_instance

TESTS = Path(__file__).parents[1]
FORMER = Path(__file__).with_name("former_instance.yaml").read_text(encoding="utf-8")
"""The dagster.yaml that the version before this event log wrote."""
OURS = yaml.safe_dump(
    {
        "event_log_storage": {
            "module": "resources.event_log",
            "class": "SqliteEventLog",
            "config": {"base_dir": "history/runs"},
        },
        "telemetry": {"enabled": False},
    }
)
SHIPPED = yaml.safe_dump({"telemetry": {"enabled": False}})
CHECKS = 12
NOW_COLUMNS = {"create_timestamp", "migration_completed"}
"""Columns that hold the time of the insertion and not of the event."""


@pytest.fixture(autouse=True)
def _batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "1000")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An instance's folder that names our event log."""
    return folder_with(tmp_path / "home", OURS)


def folder_with(folder: Path, settings: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "dagster.yaml").write_text(settings, encoding="utf-8")
    return folder


def opened(folder: Path) -> dg.DagsterInstance:
    return dg.DagsterInstance.from_config(str(folder))


def logs(folder: Path) -> Path:
    return folder / "history/runs"


def rows(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, without the columns that hold the time of the insertion."""
    with sqlite3.connect(database) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        found = {}
        for table in sorted(tables):
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            kept = ", ".join(f'"{name}"' for name in names if name not in NOW_COLUMNS)
            found[table] = sorted(connection.execute(f"SELECT {kept} FROM {table}").fetchall(), key=repr)
    connection.close()
    return found


def schema(database: Path) -> set[str]:
    with sqlite3.connect(database) as connection:
        found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    connection.close()
    return {" ".join(sql.split()) for sql in found}


def integrity(folder: Path) -> set[str]:
    found = set()
    for path in logs(folder).glob("*.db"):
        with sqlite3.connect(path) as connection:
            found |= {answer for (answer,) in connection.execute("PRAGMA integrity_check")}
        connection.close()
    return found


def start_writer(folder: Path, *partitions: str, **variables: str) -> subprocess.Popen[str]:
    """Run checked_graph in another process, and wait until it has opened the instance."""
    process = subprocess.Popen(
        [sys.executable, "-m", "checked_graph", str(folder), *partitions],
        env={**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}", **variables},
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def wait_until(holds: Callable[[], Any], patience_s: float = 60) -> None:
    until = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < until, f"waited {patience_s:.0f} s"
        time.sleep(0.05)


def evaluations(instance: dg.DagsterInstance, check: str) -> list[tuple[str, str]]:
    """(run, status) of each row of a check's history."""
    history = instance.event_log_storage.get_asset_check_execution_history(
        dg.AssetCheckKey(ASSET, check), 1000
    )
    return [(record.run_id, record.status.value) for record in history]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[dg.EventLogEntry]:
    """The events of a real run with checks, in the order in which Dagster stores them."""
    folder = folder_with(tmp_path_factory.mktemp("recorded"), SHIPPED)
    events: list[dg.EventLogEntry] = []
    with opened(folder) as instance:
        storage = instance.event_log_storage
        store = storage.store_event
        storage.store_event = lambda event: (events.append(event), store(event))  # type: ignore[method-assign]
        execute(build_job(CHECKS), instance, "a")
    assert len(events) > 3 * CHECKS
    return events


def kind_of(event: dg.EventLogEntry) -> str:
    return event.get_dagster_event().event_type_value if event.is_dagster_event else "MESSAGE"


def planned_events(events: list[dg.EventLogEntry]) -> list[dg.EventLogEntry]:
    """The events that Dagster stores in a batch when a run begins."""
    return [event for event in events if kind_of(event).endswith("PLANNED")]


# The same rows


def test_batches_write_the_rows_of_single_writes(recorded: list[dg.EventLogEntry], tmp_path: Path) -> None:
    shipped = SqliteEventLogStorage(str(tmp_path / "shipped"))
    single, batch = (SqliteEventLog(str(tmp_path / name)) for name in ("single", "batch"))
    for event in recorded:
        shipped.store_event(event)
        single.store_event(event)
    planned = planned_events(recorded)
    assert len(planned) == CHECKS + 1
    batch.store_event_batch(planned)
    for event in recorded:
        if event not in planned:
            batch.store_event(event)
    single.dispose()
    batch.dispose()
    for name in (f"{recorded[0].run_id}.db", "index.db"):
        wanted = rows(tmp_path / "shipped" / name)
        assert wanted["event_logs"]
        assert rows(tmp_path / "single" / name) == wanted
        assert rows(tmp_path / "batch" / name) == wanted


def test_a_new_run_database_has_the_shipped_schema(recorded: list[dg.EventLogEntry], tmp_path: Path) -> None:
    ours, shipped = SqliteEventLog(str(tmp_path / "ours")), SqliteEventLogStorage(str(tmp_path / "shipped"))
    for storage in (ours, shipped):
        storage.store_event(recorded[0])
    ours.dispose()
    for name in (f"{recorded[0].run_id}.db", "index.db"):
        assert schema(tmp_path / "ours" / name) == schema(tmp_path / "shipped" / name)
        assert rows(tmp_path / "ours" / name)["alembic_version"] == [(event_schema.head_revision(),)]


def test_a_run_has_the_events_and_checks_of_the_shipped_log(home: Path, tmp_path: Path) -> None:
    found = []
    for folder in (home, folder_with(tmp_path / "shipped", SHIPPED)):
        with opened(folder) as instance:
            run_id = execute(build_job(CHECKS), instance, "a").run_id
            events = instance.all_logs(run_id)
            statuses = [[status for _, status in evaluations(instance, name)] for name in check_names(CHECKS)]
            materialization = instance.get_latest_materialization_event(ASSET)
            assert materialization is not None
            assert materialization.asset_materialization is not None
            found.append(
                (
                    [event.dagster_event_type for event in events],
                    statuses,
                    materialization.asset_materialization.metadata["rows"].value,
                    materialization.asset_materialization.tags["dagster/data_version"],
                )
            )
    assert found[0] == found[1]
    assert found[0][1] == [["SUCCEEDED"], ["FAILED"], *[["SUCCEEDED"]] * (CHECKS - 2)]


# A batch is stored whole or not at all


def test_half_a_batch_leaves_nothing(
    recorded: list[dg.EventLogEntry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = SqliteEventLog(str(tmp_path))
    planned = planned_events(recorded)
    before = rows(tmp_path / "index.db")
    stored = fail_once(monkeypatch, after=CHECKS // 2)
    with pytest.raises(OSError, match="half a batch"):
        storage.store_event_batch(planned)
    assert stored() == CHECKS // 2
    assert rows(tmp_path / "index.db") == before
    assert rows(tmp_path / f"{planned[0].run_id}.db")["event_logs"] == []
    storage.store_event_batch(planned)
    assert len(rows(tmp_path / "index.db")["asset_check_executions"]) == CHECKS
    storage.dispose()


def test_a_run_whose_batch_fails_has_each_check_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with opened(home) as instance:
        stored = fail_once(monkeypatch, after=CHECKS // 2)
        run_id = execute(build_job(CHECKS), instance, "a").run_id
        assert stored() > CHECKS
        assert "Falling back to storing multiple single-event" in capfd.readouterr().err
        for number, name in enumerate(check_names(CHECKS)):
            assert evaluations(instance, name) == [(run_id, "FAILED" if number == 1 else "SUCCEEDED")]
        planned = dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED
        assert len(instance.all_logs(run_id, of_type=planned)) == CHECKS


def fail_once(monkeypatch: pytest.MonkeyPatch, after: int) -> Callable[[], int]:
    """Make the planned check after `after` others raise, once. Return a function that counts the stored ones."""
    store = SqliteEventLog._store_asset_check_evaluation_planned
    stored = 0
    failed = False

    def stores(self: Any, *arguments: Any) -> None:
        nonlocal stored, failed
        if stored == after and not failed:
            failed = True
            raise OSError("half a batch")
        stored += 1
        store(self, *arguments)

    monkeypatch.setattr(SqliteEventLog, "_store_asset_check_evaluation_planned", stores)
    return lambda: stored


# Several processes and threads


def test_a_watcher_sees_every_event_while_the_writer_has_the_log_open(home: Path) -> None:
    with opened(home) as instance:
        writer = start_writer(home, "a", CHECKS=str(CHECKS), PAUSE_S="3", STAY="yes")
        wait_until(lambda: instance.get_runs_count() == 1)
        (run,) = instance.get_runs()
        seen: list[str] = []
        first_seen_in: list[str] = []

        def note(event: dg.EventLogEntry, _cursor: str) -> None:
            if not seen:
                first_seen_in.append(instance.get_run_by_id(run.run_id).status.value)  # type: ignore[union-attr]
            seen.append(kind_of(event))

        instance.watch_event_logs(run.run_id, None, note)
        wait_until(lambda: "PIPELINE_SUCCESS" in seen)
        assert writer.poll() is None, "the writer lives, and its connections are open"
        assert list(logs(home).glob("*.db-wal"))
        stored = instance.all_logs(run.run_id)
        assert len(seen) == len(stored)
        assert first_seen_in == ["STARTED"], "the log moved while the run was in progress"
        instance.end_watch_event_logs(run.run_id, note)
        writer.communicate(timeout=30)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sql-event-watch")]


def test_three_processes_write_while_a_fourth_reads(home: Path) -> None:
    opened(
        home
    ).dispose()  # the databases are created before: two processes at once leave them without a version
    each = 2
    writers = [
        start_writer(home, *PARTITIONS[each * number : each * number + each], CHECKS=str(CHECKS))
        for number in range(3)
    ]
    seen: Counter[str] = Counter()
    with opened(home) as instance:
        cursors: dict[str, str | None] = {}

        def read() -> None:
            for run in instance.get_runs():
                page = instance.get_records_for_run(run.run_id, cursors.get(run.run_id))
                cursors[run.run_id] = page.cursor
                seen[run.run_id] += len(page.records)

        while any(writer.poll() is None for writer in writers):
            read()
            time.sleep(0.02)
        read()
        run_ids = [line for writer in writers for line in writer.communicate(timeout=30)[0].split()]
        assert [writer.returncode for writer in writers] == [0, 0, 0]
        assert len(run_ids) == 3 * each
        counts = {run_id: len(instance.all_logs(run_id)) for run_id in run_ids}
        assert dict(seen) == counts, "the reader saw each event once"
        assert len(set(counts.values())) == 1
        for name in check_names(CHECKS):
            assert sorted(run_id for run_id, _ in evaluations(instance, name)) == sorted(run_ids)
        index = rows(logs(home) / "index.db")
    kinds = Counter((row[1], row[3]) for row in index["event_logs"])
    for run_id in run_ids:
        assert kinds[run_id, "ASSET_CHECK_EVALUATION_PLANNED"] == CHECKS
        assert kinds[run_id, "ASSET_CHECK_EVALUATION"] == CHECKS
        assert kinds[run_id, "ASSET_MATERIALIZATION"] == 1
    assert len(index["asset_check_executions"]) == CHECKS * len(run_ids)
    assert integrity(home) == {"ok"}


KILLED = textwrap.dedent(
    """
    import os, sys
    import dagster as dg
    from checked_graph import build_job, execute

    with dg.DagsterInstance.from_config(sys.argv[1]) as instance:
        out = os.fdopen(os.dup(1), "w", buffering=1)
        storage = instance.event_log_storage
        store, store_batch = storage.store_event, storage.store_event_batch
        in_batch = False

        def store_and_report(event):
            store(event)
            if not in_batch:
                out.write(f"{event.run_id}\\n")

        def store_batch_and_report(events):
            global in_batch
            in_batch = True
            store_batch(events)
            in_batch = False
            out.write("".join(f"{event.run_id}\\n" for event in events))

        storage.store_event, storage.store_event_batch = store_and_report, store_batch_and_report
        job = build_job(40)
        while True:
            execute(job, instance, "a")
    """
)


@pytest.mark.kill
@pytest.mark.parametrize("events", [1, 75, 130])
def test_a_killed_writer_loses_no_stored_event(home: Path, events: int) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
    writer = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(home)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    reported = Counter(writer.stdout.readline().strip() for _ in range(events))
    writer.send_signal(signal.SIGKILL)
    reported += Counter(writer.communicate()[0].split())
    with opened(home) as instance:
        for run_id, count in reported.items():
            assert len(instance.all_logs(run_id)) >= count
        run_id = execute(build_job(CHECKS), instance, "b").run_id
        assert (run_id, "SUCCEEDED") in evaluations(instance, "check_0")
    assert integrity(home) == {"ok"}


THREADS = textwrap.dedent(
    """
    import os, sys, threading
    from pathlib import Path
    from checked_graph import PARTITIONS, build_job, execute
    from resources.instance import open_instance

    job = build_job(5)
    out = os.fdopen(os.dup(1), "w")
    counts = []
    with open_instance(Path(sys.argv[1])) as opened:
        def work(partition):
            for _ in range(5):
                run_id = execute(job, opened.instance, partition).run_id
                counts.append(len(opened.instance.all_logs(run_id)))

        threads = [threading.Thread(target=work, args=(each,)) for each in PARTITIONS[:4]]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    out.write(f"{len(counts)} {len(set(counts))}")
    """
)


def test_runs_in_four_threads_neither_wait_forever_nor_lose_events(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
    environment.pop("DAGSTER_HOME", None)
    done = subprocess.run(
        [sys.executable, "-c", THREADS, str(tmp_path)],
        env=environment,
        timeout=120,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "20 1", "20 runs, each with as many events as the others"
    with opened(tmp_path / "dagster") as instance:
        assert len(evaluations(instance, "check_0")) == 20
    assert integrity(tmp_path / "dagster") == {"ok"}


def test_threads_write_and_read_one_log(recorded: list[dg.EventLogEntry], tmp_path: Path) -> None:
    storage = SqliteEventLog(str(tmp_path))
    planned = planned_events(recorded)
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for event in recorded:
                storage.store_event(event._replace(run_id=f"run-{number}"))
                storage.get_records_for_run(f"run-{(number + 1) % 12}")
            storage.store_event_batch([event._replace(run_id=f"batch-{number}") for event in planned])
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,), daemon=True) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)
    for number in range(12):
        assert len(storage.get_records_for_run(f"run-{number}").records) == len(recorded)
        assert len(storage.get_records_for_run(f"batch-{number}").records) == len(planned)
    storage.dispose()


def test_an_event_is_stored_while_another_thread_holds_the_lock_of_logging(
    recorded: list[dg.EventLogEntry], tmp_path: Path
) -> None:
    """That thread may wait for the logging handler within which an event is stored."""
    storage = SqliteEventLog(str(tmp_path))
    storage.store_event(recorded[0])
    logging.root.manager._clear_cache()  # type: ignore[attr-defined]
    release, held = threading.Event(), threading.Event()

    def hold() -> None:
        with logging._lock:  # type: ignore[attr-defined]
            held.set()
            release.wait(60)

    def store() -> None:
        for event in recorded:
            storage.store_event(event._replace(run_id="another"))  # a new database is created too

    holder, writer = (threading.Thread(target=target, daemon=True) for target in (hold, store))
    holder.start()
    held.wait()
    writer.start()
    writer.join(30)
    waits = writer.is_alive()
    frames = traceback.format_stack(sys._current_frames()[writer.ident]) if waits and writer.ident else []
    release.set()
    assert not waits, "".join(frames)
    assert len(storage.get_records_for_run("another").records) == len(recorded)
    storage.dispose()


# Bounds


def test_few_databases_stay_open(recorded: list[dg.EventLogEntry], tmp_path: Path) -> None:
    def open_files() -> int:
        files = [path for path in Path("/proc/self/fd").iterdir() if path.exists()]
        return sum(str(tmp_path) in str(path.readlink()) for path in files)

    storage = SqliteEventLog(str(tmp_path))
    run_ids = [f"run-{number}" for number in range(50)]
    for run_id in run_ids:
        storage.store_event_batch([event._replace(run_id=run_id) for event in planned_events(recorded)])
        storage.store_event(recorded[-1]._replace(run_id=run_id))
        assert len(storage._shards.open_names()) <= OPEN_SHARDS + 1
        assert open_files() <= 3 * (OPEN_SHARDS + 1)
    assert {len(storage.get_logs_for_run(run_id)) for run_id in run_ids} == {CHECKS + 2}
    assert 0 < open_files() <= 3 * (OPEN_SHARDS + 1)
    storage.dispose()
    assert open_files() == 0
    assert not list(tmp_path.glob("*.db-wal")), "closed databases are one file each"


def test_a_deleted_log_is_created_anew(recorded: list[dg.EventLogEntry], home: Path) -> None:
    run_id = recorded[0].run_id
    with opened(home) as writer, opened(home) as other:
        writer.event_log_storage.store_event(recorded[0])
        other.event_log_storage.wipe()
        assert writer.event_log_storage.get_records_for_run(run_id).records == []
        writer.event_log_storage.store_event(recorded[1])
        assert len(other.event_log_storage.get_records_for_run(run_id).records) == 1


# Instances of other versions


def test_an_instance_of_the_former_version_opens_with_its_runs_and_events(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "dagster", FORMER)
    with opened(folder) as instance:
        assert type(instance.event_log_storage) is SqliteEventLogStorage
        old = execute(build_job(CHECKS), instance, "a").run_id
        events = [event.dagster_event_type for event in instance.all_logs(old)]
    files = {path.relative_to(folder) for path in folder.rglob("*.db")}
    with open_instance(tmp_path) as found:
        assert type(found.instance.event_log_storage) is SqliteEventLog
        assert [run.run_id for run in found.instance.get_runs()] == [old]
        assert [event.dagster_event_type for event in found.instance.all_logs(old)] == events
        new = execute(build_job(CHECKS), found.instance, "b").run_id
        assert {run_id for run_id, _ in evaluations(found.instance, "check_0")} == {old, new}
    added = {path.relative_to(folder) for path in folder.rglob("*.db")} - files
    assert added == {Path(f"history/runs/{new}.db")}
    (folder / "dagster.yaml").write_text(SHIPPED, encoding="utf-8")
    with opened(folder) as instance:  # the shipped storage reads what ours wrote
        assert type(instance.event_log_storage) is SqliteEventLogStorage
        assert [event.dagster_event_type for event in instance.all_logs(new)] == events
        assert {run_id for run_id, _ in evaluations(instance, "check_0")} == {old, new}


def test_an_edited_dagster_yaml_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    edited = FORMER.replace("max_concurrent_runs: 4", "max_concurrent_runs: 2")
    folder = folder_with(tmp_path / "dagster", edited)
    assert dagster_home(tmp_path) == folder
    assert (folder / "dagster.yaml").read_text() == edited
    (message,) = caplog.messages
    assert str(folder / "dagster.yaml") in message
    entry = message.partition("add:")[2]
    (folder / "dagster.yaml").write_text(edited + entry, encoding="utf-8")
    caplog.clear()
    with open_instance(tmp_path) as found:
        assert type(found.instance.event_log_storage) is SqliteEventLog
    assert caplog.messages == []


@pytest.mark.parametrize(
    "settings", ["storage:\n  sqlite:\n    base_dir: /elsewhere\n", "event_log_storage: {}\n", "a: [\n"]
)
def test_a_chosen_storage_needs_no_message(
    settings: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder_with(tmp_path / "dagster", settings)
    dagster_home(tmp_path)
    assert (tmp_path / "dagster/dagster.yaml").read_text() == settings
    assert caplog.messages == []


def test_batches_are_on_unless_the_user_chose_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for chosen, size in ((None, "1000"), ("0", "0")):
        monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", chosen or "")
        if chosen is None:
            monkeypatch.delenv("DAGSTER_EVENT_BATCH_SIZE")
        with open_instance(tmp_path):
            assert os.environ["DAGSTER_EVENT_BATCH_SIZE"] == size


def test_every_former_dagster_yaml_is_replaced(tmp_path: Path) -> None:
    assert hashlib.sha256(FORMER.encode()).hexdigest() in FORMER_SETTINGS
    folder = folder_with(tmp_path / "dagster", FORMER)
    dagster_home(tmp_path)
    current = (folder / "dagster.yaml").read_text()
    assert "SqliteEventLog" in current
    assert hashlib.sha256(current.encode()).hexdigest() not in FORMER_SETTINGS
    assert [path.name for path in folder.iterdir()] == ["dagster.yaml"]


def test_a_moved_home_keeps_its_log_below_it(home: Path, tmp_path: Path) -> None:
    with opened(home) as instance:
        run_id = execute(build_job(2), instance, "a").run_id
    moved = tmp_path / "moved"
    home.rename(moved)
    with opened(moved) as instance:
        assert instance.all_logs(run_id)
        execute(build_job(2), instance, "b")
    assert not home.exists()


def migrate(folder: Path) -> str:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("dagster")), "instance", "migrate"],
        env={**os.environ, "DAGSTER_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def set_revision(folder: Path, revision: str) -> None:
    for path in logs(folder).glob("*.db"):
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = ?", [revision])
        connection.close()


def test_an_older_schema_asks_for_a_migration_which_works(home: Path) -> None:
    with opened(home) as instance:
        run_id = execute(build_job(2), instance, "a").run_id
        events = len(instance.all_logs(run_id))
    script = event_schema._scripts().get_revision(event_schema.head_revision())
    assert script is not None
    assert isinstance(script.down_revision, str)
    set_revision(home, script.down_revision)
    with opened(home) as instance, pytest.raises(EventLogError) as error:
        instance.all_logs(run_id)
    assert f"DAGSTER_HOME={home} dagster instance migrate" in str(error.value)
    assert str(logs(home)) in str(error.value)
    migrate(home)
    with opened(home) as instance:
        assert len(instance.all_logs(run_id)) == events
        execute(build_job(2), instance, "b")


def test_a_migration_of_a_current_instance_changes_nothing(home: Path) -> None:
    with opened(home) as instance:
        run_id = execute(build_job(2), instance, "a").run_id
    before = rows(logs(home) / "index.db")
    assert "Updating event storage" in migrate(home)
    assert rows(logs(home) / "index.db") == before
    with opened(home) as instance:
        assert instance.all_logs(run_id)


# Errors


def test_a_newer_schema_names_the_file_and_the_versions(home: Path) -> None:
    opened(home).dispose()
    set_revision(home, "feedfacefeed")
    with opened(home) as instance, pytest.raises(EventLogError, match="newer Dagster") as error:
        execute(build_job(2), instance, "a")
    assert str(logs(home) / "index.db") in str(error.value)
    assert "feedfacefeed" in str(error.value)


def test_a_damaged_index_names_the_file(home: Path) -> None:
    logs(home).mkdir(parents=True)
    (logs(home) / "index.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(EventLogError, match=r"index\.db is damaged .* move it and the files index\.db-wal"):
        opened(home)


def test_a_damaged_run_log_leaves_the_other_runs_readable(home: Path) -> None:
    with opened(home) as instance:
        damaged, sound = (execute(build_job(2), instance, each).run_id for each in "ab")
    path = logs(home) / f"{damaged}.db"
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    with opened(home) as instance:
        with pytest.raises(EventLogError, match=f"{damaged}.db is damaged.*empty log of run {damaged}"):
            instance.all_logs(damaged)
        assert instance.all_logs(sound)
        path.unlink()
        assert instance.all_logs(damaged) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_named(home: Path) -> None:
    logs(home).mkdir(parents=True)
    logs(home).chmod(0o500)
    with pytest.raises(EventLogError, match="that you may write to it"):
        opened(home)


def test_a_file_in_place_of_the_folder_is_named(home: Path) -> None:
    (home / "history").mkdir()
    logs(home).write_text("a file")
    with pytest.raises(EventLogError, match=r"Cannot open .*index\.db"):
        opened(home)


def test_the_installed_dagster_has_the_methods_relied_on() -> None:
    assert changed_methods(SqliteEventLogStorage, EXPECTED) == []
    assert dg.__version__ == event_schema.DAGSTER


def test_another_dagster_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteEventLogStorage, "has_table", lambda self, name, schema: True)
    with pytest.raises(
        EventLogError, match=r"needs Dagster 1\.13\.27.*changed: has_table.*remove `event_log"
    ):
        SqliteEventLog(str(tmp_path))


def test_a_half_created_index_is_completed(tmp_path: Path) -> None:
    """A process that is killed while it creates the tables leaves a database without a revision."""
    SqliteEventLog(str(tmp_path)).dispose()
    with sqlite3.connect(tmp_path / "index.db") as connection:
        connection.execute("DROP TABLE alembic_version")
        connection.execute("DROP TABLE dynamic_partitions")
    connection.close()
    storage = SqliteEventLog(str(tmp_path))
    assert storage.has_table("dynamic_partitions")
    assert storage.alembic_version()[0] == event_schema.head_revision()
    storage.dispose()
