"""Group commit: who waits, what a failing database does to waiting requests, and that the ledger works again."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from ledger_rows import ACCOUNT, completion, find, request, store

from memflow.chat.requests import Completion
from memflow.errors import ChatError, StoreBusy, StoreFailed
from memflow.resources import reconnect
from memflow.resources.ledger import database
from memflow.resources.ledger.rows import Record, RecordWriter
from memflow.resources.ledger.sql_ledger import SqlLedger


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the write lock of a SQLite file, as another program may."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def put_all(ledger: SqlLedger, *answers: Completion) -> list[Completion | BaseException]:
    puts = [ledger.put(answer, request(answer.digest), ACCOUNT) for answer in answers]
    return await asyncio.gather(*puts, return_exceptions=True)


async def test_ledger_put_completes_only_after_the_database_commit(url: str, path: Path) -> None:
    with SqlLedger(url) as ledger, SqlLedger(url) as other:
        await ledger.put(completion(key="first"), request("a"), ACCOUNT)
        with locked(path):
            stored = ledger.put(completion(key="k"), request("a"), ACCOUNT)
            await asyncio.wait([stored], timeout=0.1)
            assert not stored.done()
            assert await ledger.get("k") is None is await other.get("k")
        assert (await stored) == await other.get("k")


async def test_cache_hits_are_stored_with_the_next_commit(url: str) -> None:
    with SqlLedger(url) as ledger, SqlLedger(url) as other:
        (stored,) = await put_all(ledger, completion(key="a"))
        assert isinstance(stored, Completion)
        ledger.record_cache_hit(stored, request("a"), ACCOUNT)
        await put_all(ledger, completion(key="b"))
        assert [(row.requests, row.cache_hits) for row in other.usage(by=())] == [(2, 1)]


def test_closing_the_ledger_stores_requests_cache_hits_and_failures(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        (stored,) = store(ledger, "a")
        ledger.record_cache_hit(stored, request("a"), ACCOUNT)
        ledger.record_failure(request("b"), ACCOUNT, ChatError("no"))
    with SqlLedger(either_url) as ledger:
        (row,) = ledger.usage(by=())
        assert (row.requests, row.cache_hits, row.failed) == (1, 1, 1)


def test_closed_ledger_can_be_closed_again_and_stores_completions(url: str) -> None:
    with SqlLedger(url) as ledger:
        store(ledger, "a")
        ledger.close()
        ledger.flush()
        ledger.close()
        store(ledger, "b")
        assert ledger.digests() == {"a", "b"}


def test_locked_ledger_fails_waiting_requests_and_works_again(
    url: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.2)
    with SqlLedger(url) as ledger:
        (stored,) = store(ledger, "a")
        with locked(path):
            ledger.record_cache_hit(stored, request("a"), ACCOUNT)
            errors = asyncio.run(put_all(ledger, completion(key="b"), completion(key="c")))
            assert [type(error) for error in errors] == [StoreBusy] * 2
            assert f"another process locked the ledger {url}" in str(errors[0])
            assert "End that process, then rerun." in str(errors[0])
            with pytest.raises(StoreBusy):
                ledger.flush()
            assert find(ledger, "a") == stored
        store(ledger, "b")
        assert ledger.digests() == {"a", "b"}
        assert [(row.requests, row.cache_hits) for row in ledger.usage(by=())] == [(2, 1)]


def test_opening_a_locked_new_ledger_reports_the_lock(
    url: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.2)
    path.parent.mkdir()
    sqlite3.connect(path).execute("PRAGMA journal_mode = WAL")
    with locked(path), pytest.raises(StoreBusy, match="another process locked the ledger"):
        SqlLedger(url)


def test_full_disk_fails_waiting_requests_and_the_ledger_works_again(url: str) -> None:
    with SqlLedger(url) as ledger:
        (stored,) = store(ledger, "a")

        def limit(pages: int) -> None:
            with ledger._engine.connect() as connection:
                connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

        ledger.record_cache_hit(stored, request("a"), ACCOUNT)
        limit(1)  # SQLite uses at least as many pages as the file has
        errors = asyncio.run(put_all(ledger, *(completion("x" * 10**6, key) for key in "bc")))
        assert [type(error) for error in errors] == [StoreFailed] * 2
        assert "is full" in str(errors[0]) and "Free some space, then rerun" in str(errors[0])
        limit(10**6)
        store(ledger, "b")
        assert [(row.requests, row.cache_hits) for row in ledger.usage(by=())] == [(2, 1)]


async def put_while_connections_end(
    ledger: SqlLedger, blocker: sa.Engine, once: bool
) -> list[Completion | BaseException]:
    """Put two completions while the table is locked and each connection that waits is ended: once, or always."""
    with blocker.connect() as connection:
        connection.exec_driver_sql("LOCK TABLE uses IN EXCLUSIVE MODE")
        puts = asyncio.create_task(put_all(ledger, completion(key="b"), completion(key="c")))
        ended: list[object] = []
        while not (ended if once else puts.done()):  # the writer may take them in one transaction or in two
            await asyncio.sleep(0.05)
            connection.exec_driver_sql("SELECT pg_stat_clear_snapshot()")  # else one per transaction
            ended += connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE wait_event_type = 'Lock' AND pid <> pg_backend_pid()"
            )
    return await puts


@pytest.mark.postgres
def test_connection_lost_for_long_fails_waiting_requests_and_the_ledger_works_again(
    postgres_ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconnect, "RECONNECT_S", 0.5)
    blocker = sa.create_engine(postgres_ledger_url)
    with SqlLedger(postgres_ledger_url) as ledger:
        (stored,) = store(ledger, "a")
        ledger.record_cache_hit(stored, request("a"), ACCOUNT)
        errors = asyncio.run(put_while_connections_end(ledger, blocker, once=False))
        assert [type(error) for error in errors] == [StoreFailed] * 2
        assert "lost the connection" in str(errors[0]) and "memflow@127.0.0.1" in str(errors[0])
        store(ledger, "b")
        assert ledger.digests() == {"a", "b"}
        assert [(row.requests, row.cache_hits) for row in ledger.usage(by=())] == [(2, 1)]
    blocker.dispose()


@pytest.mark.postgres
def test_lost_connection_is_opened_again_and_the_completions_are_stored_once(
    postgres_ledger_url: str,
) -> None:
    blocker = sa.create_engine(postgres_ledger_url)
    with SqlLedger(postgres_ledger_url) as ledger:
        stored = asyncio.run(put_while_connections_end(ledger, blocker, once=True))
        assert stored == [completion(key="b"), completion(key="c")]
        assert ledger.digests() == {"b", "c"}
        assert [row.requests for row in ledger.usage(by=())] == [2]
    blocker.dispose()


@pytest.mark.parametrize("cached", [False, True])
def test_transaction_whose_commit_was_not_confirmed_is_not_stored_twice(
    url: str, cached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = RecordWriter.write
    attempts: list[int] = []

    def lose_confirmation(self: RecordWriter, records: Sequence[Record]) -> object:
        stored = write(self, records)
        attempts.append(len(records))
        if len(attempts) == 1:
            raise sa.exc.OperationalError("COMMIT", None, Exception("server closed the connection"))
        return stored

    monkeypatch.setattr(RecordWriter, "write", lose_confirmation)
    with SqlLedger(url) as ledger:
        if cached:
            ledger.record_cache_hit(completion(key="a"), request("a"), ACCOUNT)
            ledger.record_failure(request("b"), ACCOUNT, ValueError("wrong"))
            ledger.flush()
        else:
            assert store(ledger, "a") == [completion(key="a")]
        assert len(attempts) == 1
        (row,) = ledger.usage(by=())
        assert (row.requests, row.cache_hits, row.failed) == ((0, 1, 1) if cached else (1, 0, 0))


async def test_completion_that_cannot_be_stored_does_not_fail_other_completions(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        results = await put_all(
            ledger, completion(key="a"), completion("\ud83d", key="b"), completion(key="c")
        )
        assert [type(result) for result in results] == [Completion, UnicodeEncodeError, Completion]
        assert ledger.digests() == {"a", "c"}
        assert ledger.usage(by=())[0].requests == 2


async def test_ledger_stores_a_completion_whose_put_was_cancelled(url: str) -> None:
    with SqlLedger(url) as ledger:
        ledger.put(completion(key="a"), request("a"), ACCOUNT).cancel()
        await put_all(ledger, completion(key="b"))
        assert ledger.digests() == {"a", "b"}


def test_ledger_stores_a_completion_after_the_event_loop_of_the_put_is_closed(url: str) -> None:
    async def put() -> None:
        ledger.put(completion(key="a"), request("a"), ACCOUNT)

    with SqlLedger(url) as ledger:
        asyncio.run(put())
        ledger.flush()
        assert ledger.digests() == {"a"}
