"""Fixtures for event logs and ledgers, and a PostgreSQL server if its programs are installed."""

import os
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy as sa
from checked_graph import build_job, execute
from event_logs import CHECKS, OURS, SHIPPED, folder_with, opened

from bench.measure import postgres_server
from resources.ledger.tables import tables


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Return the SQLAlchemy URL of an empty database."""
    with postgres_server() as port:
        if port is None:
            message = "PostgreSQL is missing: neither initdb on the path nor /usr/lib/postgresql"
            if os.environ.get("CI") == "true":
                pytest.fail(message)
            pytest.skip(message)
        yield f"postgresql+psycopg2://memflow@127.0.0.1:{port}/postgres"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a SQLite ledger that does not exist yet."""
    return tmp_path / "deep" / "ledger.sqlite"


@pytest.fixture
def url(path: Path) -> str:
    """Return the URL of a new SQLite ledger."""
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_ledger_url(postgres_url: str) -> str:
    """Return the URL of an empty PostgreSQL ledger."""
    engine = sa.create_engine(postgres_url)
    tables.drop_all(engine)
    engine.dispose()
    return postgres_url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def either_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of an empty ledger, once per database."""
    name = "url" if request.param == "sqlite" else "postgres_ledger_url"
    url: str = request.getfixturevalue(name)
    return url


@pytest.fixture(autouse=True)
def _batched_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Dagster store planned events in batches."""
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "1000")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the folder of a Dagster instance that uses memflow's event log."""
    return folder_with(tmp_path / "home", OURS)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[dg.EventLogEntry]:
    """Return the events of a real run with checks, in the order in which Dagster stores them."""
    folder = folder_with(tmp_path_factory.mktemp("recorded"), SHIPPED)
    events: list[dg.EventLogEntry] = []
    with opened(folder) as instance:
        storage = instance.event_log_storage
        store = storage.store_event
        storage.store_event = lambda event: (events.append(event), store(event))  # type: ignore[method-assign]
        execute(build_job(CHECKS), instance, "a")
    assert len(events) > 3 * CHECKS
    return events
