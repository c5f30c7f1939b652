"""Fixtures for event logs, and a PostgreSQL server where its programs are installed."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from checked_graph import build_job, execute
from event_logs import CHECKS, OURS, SHIPPED, folder_with, opened


def programs() -> Path | None:
    """The folder with initdb and pg_ctl: on the path, or where Debian puts them."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The SQLAlchemy URL of an empty database. Root cannot run the server, so the user postgres does."""
    folder = programs()
    if folder is None:
        lacks = "there is no PostgreSQL on this machine: neither initdb on the path nor /usr/lib/postgresql"
        if os.environ.get("CI") == "true":
            pytest.fail(lacks)
        pytest.skip(lacks)
    home = Path(tempfile.mkdtemp(prefix="memflow-postgres-"))
    as_user: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(home, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [*as_user, str(folder / program), *arguments], check=True, capture_output=True, cwd=home
        )

    data = str(home / "data")
    run("initdb", "-D", data, "-U", "memflow", "--auth=trust", "--no-sync")
    run(
        "pg_ctl",
        "-D",
        data,
        "-w",
        "-l",
        str(home / "log"),
        "-o",
        f"-p {port} -h 127.0.0.1 -k {home}",
        "start",
    )
    try:
        yield f"postgresql+psycopg2://memflow@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(autouse=True)
def _batched_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Dagster store planned events in batches."""
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "1000")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An instance's folder that names our event log."""
    return folder_with(tmp_path / "home", OURS)


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
