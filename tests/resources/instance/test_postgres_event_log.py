"""The event log on PostgreSQL: few connections, atomic batches, and the same rows as Dagster's storage."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa
from checked_graph import build_job, check_names, execute
from dagster._core.storage.event_log.schema import SqlEventLogStorageMetadata
from dagster_postgres.event_log import PostgresEventLogStorage
from event_logs import CHECKS, evaluations, in_threads
from sqlalchemy.engine import make_url

from memflow.errors import EventLogError
from resources.instance import postgres_event_log
from resources.instance.event_schema import changed_methods
from resources.instance.postgres_event_log import EXPECTED, POOL, PostgresEventLog

pytestmark = pytest.mark.postgres
TABLES = ("event_logs", "asset_check_executions", "asset_keys", "asset_event_tags")


@pytest.fixture
def url(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the URL of a new database on the server."""
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "1000")
    name = f"events_{threading.get_ident()}"
    query(postgres_url, f"CREATE DATABASE {name}")
    yield make_url(postgres_url).set(drivername="postgresql", database=name).render_as_string(False)
    query(postgres_url, f"DROP DATABASE {name} WITH (FORCE)")


def query(url: str, statement: str) -> list[tuple[Any, ...]]:
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        found = connection.exec_driver_sql(statement)
        return [tuple(row) for row in found] if found.returns_rows else []


def instance_on(storage: PostgresEventLogStorage, folder: Path) -> dg.DagsterInstance:
    """Return an instance whose runs are in SQLite and whose events are in `storage`."""
    folder.mkdir(exist_ok=True)
    instance = dg.DagsterInstance.local_temp(str(folder), overrides={"telemetry": {"enabled": False}})
    storage.register_instance(instance)
    instance._event_storage = storage
    return instance


def statuses(instance: dg.DagsterInstance) -> list[list[str]]:
    return [[status for _, status in evaluations(instance, name)] for name in check_names(CHECKS)]


def test_run_has_the_same_events_and_checks_as_in_dagster_storage(url: str, tmp_path: Path) -> None:
    found = []
    for storage in (PostgresEventLogStorage(url), PostgresEventLog(url)):
        SqlEventLogStorageMetadata.drop_all(storage._engine)
        SqlEventLogStorageMetadata.create_all(storage._engine)
        storage._secondary_index_cache.clear()
        with instance_on(storage, tmp_path / type(storage).__name__) as instance:
            run_id = execute(build_job(CHECKS), instance, "a").run_id
            kinds = [event.dagster_event_type for event in instance.all_logs(run_id)]
            counts = [query(url, f"SELECT count(*) FROM {table}") for table in TABLES]
            found.append((kinds, counts, statuses(instance)))
    assert found[0] == found[1]
    assert len(found[0][0]) > 3 * CHECKS


def test_run_opens_at_most_10_postgres_connections_and_closes_all(url: str, tmp_path: Path) -> None:
    def sessions() -> int:
        ((count,),) = query(url, "SELECT sessions FROM pg_stat_database WHERE datname = current_database()")
        return int(count)

    def connections() -> int:
        ((count,),) = query(url, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(count) - 1  # this question's own

    storage = PostgresEventLog(url)
    before = sessions()
    with instance_on(storage, tmp_path) as instance:
        execute(build_job(CHECKS), instance, "a")
        assert 1 <= connections() <= 1 + POOL["max_overflow"]
        storage.dispose()
        assert connections() == 0
        assert sessions() - before <= 10, "a connection for each event would be more than 40"


def test_failed_event_batch_is_rolled_back_and_checks_are_not_duplicated(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresEventLog._store_asset_check_evaluation_planned
    stored: list[int] = []
    rows_after_failure: list[int] = []

    def fail_once(self: PostgresEventLog, *arguments: Any) -> None:
        if len(stored) == CHECKS // 2 and not rows_after_failure:
            rows_after_failure.append(-1)
            raise OSError("half a batch")
        if rows_after_failure == [-1]:
            ((count,),) = query(url, "SELECT count(*) FROM asset_check_executions")
            rows_after_failure[0] = count
        stored.append(1)
        store(self, *arguments)

    monkeypatch.setattr(PostgresEventLog, "_store_asset_check_evaluation_planned", fail_once)
    with instance_on(PostgresEventLog(url), tmp_path) as instance:
        run_id = execute(build_job(CHECKS), instance, "a").run_id
        assert rows_after_failure == [0], "the failed batch left nothing"
        assert statuses(instance) == [["SUCCEEDED"], ["FAILED"], *[["SUCCEEDED"]] * (CHECKS - 2)]
        planned = dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED
        assert len(instance.all_logs(run_id, of_type=planned)) == CHECKS


def test_more_threads_than_pool_connections_store_every_event(url: str, tmp_path: Path) -> None:
    storage = PostgresEventLog(url)
    with instance_on(storage, tmp_path) as instance:
        run_id = execute(build_job(CHECKS), instance, "a").run_id
        events = instance.all_logs(run_id)
        kind = dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED
        planned = list(instance.all_logs(run_id, of_type=kind))

        def write(number: int) -> None:
            storage.store_event_batch([event._replace(run_id=f"run-{number}") for event in planned])
            for event in events:
                storage.store_event(event._replace(run_id=f"other-{number}"))

        in_threads(write, 9)
        for number in range(9):
            assert len(storage.get_logs_for_run(f"run-{number}")) == len(planned)
            assert len(storage.get_logs_for_run(f"other-{number}")) == len(events)


def test_event_log_applies_the_statement_timeout_of_the_web_server(url: str) -> None:
    storage = PostgresEventLog(url)
    storage.optimize_for_webserver(statement_timeout=5000, pool_recycle=60, max_overflow=7)
    with storage._connect() as connection:
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == "5s"
    storage.dispose()


def test_event_log_passes_token_provider_and_url_options_to_the_pool(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, Any, dict[str, Any]]] = []
    create = postgres_event_log.create_pg_engine

    def note(postgres_url: str, token_provider: Any = None, **options: Any) -> Any:
        calls.append((postgres_url, token_provider, options))
        return create(postgres_url, None, **options)

    monkeypatch.setattr(postgres_event_log, "create_pg_engine", note)
    provider: Any = object()
    monkeypatch.setattr(
        "dagster_postgres.event_log.event_log.create_pg_engine",
        lambda url, _provider, **kw: create(url, None, **kw),
    )
    PostgresEventLog(f"{url}?options=-c%20application_name%3Dmemflow", token_provider=provider).dispose()
    ((_, found, options),) = calls
    assert found is provider
    assert options["pool_size"] == 1
    assert options["connect_args"] == {"options": "-c application_name=memflow"}


def test_event_log_reports_a_missing_method_of_the_installed_dagster_storage(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed_methods(PostgresEventLogStorage, EXPECTED) == []
    monkeypatch.delattr(PostgresEventLogStorage, "_connect")
    with pytest.raises(EventLogError, match="changed: _connect"):
        PostgresEventLog(url)
