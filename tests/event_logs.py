"""Helpers for tests of the event logs: instances, rows of their databases, writers in other processes."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import dagster as dg
import yaml
from checked_graph import ASSET

TESTS = Path(__file__).parent
PYTHONPATH = {"PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
FORMER = TESTS.joinpath("resources/former_instance.yaml").read_text(encoding="utf-8")
"""The dagster.yaml that the version before this event log wrote."""
OURS = yaml.safe_dump(
    {
        "event_log_storage": {
            "module": "resources.instance.event_log",
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


def folder_with(folder: Path, settings: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "dagster.yaml").write_text(settings, encoding="utf-8")
    return folder


def opened(folder: Path) -> dg.DagsterInstance:
    return dg.DagsterInstance.from_config(str(folder))


def logs(folder: Path) -> Path:
    return folder / "history/runs"


def query(database: Path, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection, connection:
        return connection.execute(statement, parameters).fetchall()


def rows(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of every table, without the columns of insertion times."""
    found = {}
    for (table,) in query(database, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
        names = [row[1] for row in query(database, f"PRAGMA table_info({table})")]
        kept = ", ".join(f'"{name}"' for name in names if name not in NOW_COLUMNS)
        found[table] = sorted(query(database, f"SELECT {kept} FROM {table}"), key=repr)
    return found


def schema(database: Path) -> set[str]:
    found = query(database, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {" ".join(sql.split()) for (sql,) in found}


def integrity(folder: Path) -> set[str]:
    return {
        answer for path in logs(folder).glob("*.db") for (answer,) in query(path, "PRAGMA integrity_check")
    }


def start_writer(folder: Path, *partitions: str, **variables: str) -> subprocess.Popen[str]:
    """Run checked_graph in another process, and wait until it has opened the instance."""
    process = subprocess.Popen(
        [sys.executable, "-m", "checked_graph", str(folder), *partitions],
        env={**os.environ, **PYTHONPATH, **variables},
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
    """Return (run, status) of each row of a check's history."""
    history = instance.event_log_storage.get_asset_check_execution_history(
        dg.AssetCheckKey(ASSET, check), 1000
    )
    return [(record.run_id, record.status.value) for record in history]


def kind_of(event: dg.EventLogEntry) -> str:
    return event.get_dagster_event().event_type_value if event.is_dagster_event else "MESSAGE"


def planned_events(events: list[dg.EventLogEntry]) -> list[dg.EventLogEntry]:
    """Return the events that Dagster stores in a batch when a run begins."""
    return [event for event in events if kind_of(event).endswith("PLANNED")]


def set_revision(folder: Path, revision: str) -> None:
    for path in logs(folder).glob("*.db"):
        query(path, "UPDATE alembic_version SET version_num = ?", revision)


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Call work(0) .. work(count - 1) at once; raise what one raises, and fail after a minute."""
    with ThreadPoolExecutor(count) as threads:
        for future in [threads.submit(work, number) for number in range(count)]:
            future.result(60)
