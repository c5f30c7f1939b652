"""The event log on SQLite: same rows as Dagster's own, atomic batches, bounded open files, error messages."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from checked_graph import ASSET, build_job, check_names, execute
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from event_logs import (
    CHECKS,
    SHIPPED,
    evaluations,
    folder_with,
    logs,
    opened,
    planned_events,
    query,
    rows,
    schema,
    set_revision,
)

from memflow.errors import EventLogError
from resources.instance import event_schema
from resources.instance.event_log import EXPECTED, OPEN_SHARDS, SqliteEventLog
from resources.instance.event_schema import changed_methods


def test_event_batches_store_the_same_rows_as_single_writes(
    recorded: list[dg.EventLogEntry], tmp_path: Path
) -> None:
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


def test_new_event_databases_have_dagster_schema(recorded: list[dg.EventLogEntry], tmp_path: Path) -> None:
    ours, shipped = SqliteEventLog(str(tmp_path / "ours")), SqliteEventLogStorage(str(tmp_path / "shipped"))
    for storage in (ours, shipped):
        storage.store_event(recorded[0])
    ours.dispose()
    for name in (f"{recorded[0].run_id}.db", "index.db"):
        assert schema(tmp_path / "ours" / name) == schema(tmp_path / "shipped" / name)
        assert rows(tmp_path / "ours" / name)["alembic_version"] == [(event_schema.head_revision(),)]


def test_run_has_the_same_events_and_checks_as_in_dagster_storage(home: Path, tmp_path: Path) -> None:
    found = []
    for folder in (home, folder_with(tmp_path / "shipped", SHIPPED)):
        with opened(folder) as instance:
            run_id = execute(build_job(CHECKS), instance, "a").run_id
            events = instance.all_logs(run_id)
            statuses = [[status for _, status in evaluations(instance, name)] for name in check_names(CHECKS)]
            materialization = instance.get_latest_materialization_event(ASSET)
            assert materialization is not None
            assert materialization.asset_materialization is not None
            asset = materialization.asset_materialization
            kinds = [event.dagster_event_type for event in events]
            found.append((kinds, statuses, asset.metadata["rows"].value, asset.tags["dagster/data_version"]))
    assert found[0] == found[1]
    assert found[0][1] == [["SUCCEEDED"], ["FAILED"], *[["SUCCEEDED"]] * (CHECKS - 2)]


# A batch is stored whole or not at all


def test_failed_event_batch_stores_no_event(
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


def test_run_after_a_failed_event_batch_has_each_check_once(
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
    """Make the planned check after `after` others raise once. Return a function that counts the stored checks."""
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


def test_event_log_limits_number_of_open_databases(recorded: list[dg.EventLogEntry], tmp_path: Path) -> None:
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


def test_event_log_creates_a_deleted_run_database_again(recorded: list[dg.EventLogEntry], home: Path) -> None:
    run_id = recorded[0].run_id
    with opened(home) as writer, opened(home) as other:
        writer.event_log_storage.store_event(recorded[0])
        other.event_log_storage.wipe()
        assert writer.event_log_storage.get_records_for_run(run_id).records == []
        writer.event_log_storage.store_event(recorded[1])
        assert len(other.event_log_storage.get_records_for_run(run_id).records) == 1


def test_event_log_reports_a_database_with_a_newer_schema(home: Path) -> None:
    opened(home).dispose()
    set_revision(home, "feedfacefeed")
    with opened(home) as instance, pytest.raises(EventLogError, match="newer Dagster") as error:
        execute(build_job(2), instance, "a")
    assert str(logs(home) / "index.db") in str(error.value)
    assert "feedfacefeed" in str(error.value)


def test_event_log_reports_a_damaged_index_or_a_file_in_place_of_the_folder(home: Path) -> None:
    (home / "history").mkdir()
    logs(home).write_text("a file")
    with pytest.raises(EventLogError, match=r"Cannot open .*index\.db"):
        opened(home)
    logs(home).unlink()
    logs(home).mkdir()
    (logs(home) / "index.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(EventLogError, match=r"index\.db is damaged .* move it and the files index\.db-wal"):
        opened(home)


def test_damaged_run_database_does_not_affect_other_runs(home: Path) -> None:
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
def test_event_log_reports_a_folder_without_write_permission(home: Path) -> None:
    logs(home).mkdir(parents=True)
    logs(home).chmod(0o500)
    with pytest.raises(EventLogError, match="that you may write to it"):
        opened(home)


def test_installed_dagster_has_the_methods_that_the_event_log_overrides() -> None:
    assert changed_methods(SqliteEventLogStorage, EXPECTED) == []
    assert dg.__version__ == event_schema.DAGSTER


def test_event_log_reports_a_changed_dagster_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteEventLogStorage, "has_table", lambda self, name, schema: True)
    with pytest.raises(
        EventLogError, match=r"needs Dagster 1\.13\.27.*changed: has_table.*remove `event_log"
    ):
        SqliteEventLog(str(tmp_path))


def test_event_log_completes_a_partially_created_index(tmp_path: Path) -> None:
    """A process that is killed while it creates the tables leaves a database without a revision."""
    SqliteEventLog(str(tmp_path)).dispose()
    for table in ("alembic_version", "dynamic_partitions"):
        query(tmp_path / "index.db", f"DROP TABLE {table}")
    storage = SqliteEventLog(str(tmp_path))
    assert storage.has_table("dynamic_partitions")
    assert storage.alembic_version()[0] == event_schema.head_revision()
    storage.dispose()
