"""Instances of other versions: settings are replaced or kept, old runs stay readable, migrations work."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from checked_graph import build_job, execute
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from event_logs import CHECKS, FORMER, SHIPPED, evaluations, folder_with, logs, opened, rows, set_revision

from memflow.errors import EventLogError
from resources.instance import event_schema
from resources.instance.event_log import SqliteEventLog
from resources.instance.instance import FORMER_SETTINGS, dagster_home, open_instance


def test_instance_of_a_former_version_keeps_runs_and_events(tmp_path: Path) -> None:
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


def test_edited_dagster_yaml_is_kept_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
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
def test_dagster_yaml_with_configured_storage_gives_no_warning(
    settings: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder_with(tmp_path / "dagster", settings)
    dagster_home(tmp_path)
    assert (tmp_path / "dagster/dagster.yaml").read_text() == settings
    assert caplog.messages == []


def test_environment_overrides_the_event_batch_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_EVENT_BATCH_SIZE")
    for size in ("1000", "0"):
        with open_instance(tmp_path):
            assert os.environ["DAGSTER_EVENT_BATCH_SIZE"] == size
        monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "0")


def test_unedited_dagster_yaml_of_a_former_version_is_replaced(tmp_path: Path) -> None:
    assert hashlib.sha256(FORMER.encode()).hexdigest() in FORMER_SETTINGS
    folder = folder_with(tmp_path / "dagster", FORMER)
    dagster_home(tmp_path)
    current = (folder / "dagster.yaml").read_text()
    assert "SqliteEventLog" in current
    assert hashlib.sha256(current.encode()).hexdigest() not in FORMER_SETTINGS
    assert [path.name for path in folder.iterdir()] == ["dagster.yaml"]


def test_event_log_stays_readable_in_a_moved_home(home: Path, tmp_path: Path) -> None:
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


def test_event_database_with_an_older_schema_requires_migration(home: Path) -> None:
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
    migrated = rows(logs(home) / "index.db")
    assert "Updating event storage" in migrate(home)
    assert rows(logs(home) / "index.db") == migrated
    with opened(home) as instance:
        assert len(instance.all_logs(run_id)) == events
        execute(build_job(2), instance, "b")
