"""Damaged ledgers: a changed value or bit is never read silently, and repair and recovery keep the other rows."""

import asyncio
import random
import sqlite3
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from ledger_rows import ACCOUNT, completion, find, request, store

from bench.ledger_flips import drill, fill, read
from memflow.chat.ledger import LedgeredChat, RecordedChat
from memflow.chat.requests import Sampling
from memflow.errors import BadInput, DamagedRow, StoreFailed
from resources.endpoints.embedder import TimedVector
from resources.files.sqlite_urls import sqlite_url
from resources.ledger.checked_ledger import repair_ledger, verify_ledger
from resources.ledger.recovery import recover
from resources.ledger.sql_ledger import SqlLedger
from resources.ledger.tables import completions, embedding_times, embeddings, unchecked_rows, uses
from resources.ledger.usage import GROUPS

A, B = "a" * 32, "b" * 32
VALUES = {
    "text": "yet",
    "finish_reason": "length",
    "prompt_tokens": 11,
    "completion_tokens": 2,
    "cached_tokens": 5,
    "latency_s": 0.5,
    "end": "cut",
    "reasoning_tokens": 1,
    "estimated": True,
    "checksum": 1,
}


def change(ledger: SqlLedger, table: sa.Table, **values: object) -> None:
    with ledger.connect(transaction=True) as connection:
        connection.execute(sa.update(table).where(table.c.digest == A).values(**values))


@pytest.mark.parametrize("column", VALUES)
def test_lookup_of_a_row_that_differs_from_its_checksum_fails_alone(either_url: str, column: str) -> None:
    with SqlLedger(either_url) as ledger:
        store(ledger, A, B)
        change(ledger, completions, **{column: VALUES[column]})

        async def find_both() -> list[object]:
            return await asyncio.gather(ledger.get(A), ledger.get(B), return_exceptions=True)

        damaged, whole = asyncio.run(find_both())
        assert isinstance(damaged, DamagedRow) and A in str(damaged)
        assert "memflow ledger verify --repair" in str(damaged)
        assert whole == completion(key=B)


@pytest.mark.parametrize(
    "column", ["prompt", "model", "messages", "parameters", "attempt", "request_checksum"]
)
def test_messages_of_a_request_that_differs_from_its_checksum_are_not_returned(url: str, column: str) -> None:
    values = {"messages": b"\x00", "attempt": 3, "request_checksum": 1}
    with SqlLedger(url) as ledger:
        store(ledger, A)
        change(ledger, completions, **{column: values.get(column, "another")})
        for read_request in (lambda: ledger.messages(A), lambda: ledger.requests([A])):
            with pytest.raises(DamagedRow):
                read_request()


def test_row_with_invalid_utf8_or_another_digest_is_damaged(url: str, path: Path) -> None:
    with SqlLedger(url) as ledger:
        store(ledger, A, B)
    with sqlite3.connect(path) as connection:
        connection.execute("update completions set text = cast(x'ff79' as text) where digest = ?", (A,))
        connection.execute("pragma writable_schema = on")
    with SqlLedger(url) as ledger, pytest.raises(DamagedRow):
        find(ledger, A)


@pytest.mark.parametrize(
    ("table", "values"), [(embeddings, {"vector": b"\x00" * 8}), (embedding_times, {"seconds": 2.0})]
)
def test_changed_vectors_and_their_seconds_are_not_returned(
    either_url: str, table: sa.Table, values: dict[str, object]
) -> None:
    with SqlLedger(either_url) as ledger:
        ledger.keep_vectors({each: TimedVector(np.ones(2, "<f4"), 0.5) for each in (A, B)})
        change(ledger, table, **values)
        assert ledger.vectors([B])[B].seconds == 0.5
        with pytest.raises(DamagedRow, match=A):
            ledger.vectors([A, B])


def test_vector_whose_seconds_are_lost_is_not_returned_and_is_moved_aside(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        ledger.keep_vectors({each: TimedVector(np.ones(2, "<f4"), 0.5) for each in (A, B)})
        with ledger.connect(transaction=True) as connection:
            connection.execute(sa.delete(embedding_times).where(embedding_times.c.digest == A))
        with pytest.raises(DamagedRow, match=A):
            ledger.vectors([A])
    assert [(each.name, each.rows) for each in verify_ledger(either_url).problems] == [("damaged row", 1)]
    repaired = repair_ledger(either_url)
    assert repaired.valid and repaired.repair is not None and repaired.repair.moved == {"embeddings": 1}
    with SqlLedger(either_url) as ledger:
        assert list(ledger.vectors([A, B])) == [B]


def test_damaged_answer_is_a_failed_request_and_is_not_sent_again_before_the_repair(either_url: str) -> None:
    class CountingChat(RecordedChat):
        sent = 0

        async def complete(self, request):  # type: ignore[no-untyped-def]
            self.sent += 1
            return completion("new")

    asked = request("question")
    chat = CountingChat("m", Sampling())
    with SqlLedger(either_url) as ledger:
        ledgered = LedgeredChat(chat, ledger, ACCOUNT)
        asyncio.run(ledgered.complete(asked))
        other = asyncio.run(ledgered.complete(request("another")))
        before = ledger.usage(by=GROUPS)
        with ledger.connect(transaction=True) as connection:
            connection.execute(
                sa.update(completions).where(completions.c.digest != other.digest).values(text="changed")
            )
        with pytest.raises(DamagedRow):
            asyncio.run(ledgered.complete(asked))
        assert chat.sent == 2
        assert ledger.unfinished(ACCOUNT.run, ACCOUNT.stage) == 1, "the partition is not up to date"
        ledger.flush()
        with ledger.connect(transaction=True) as connection:
            connection.exec_driver_sql("delete from failures")
            connection.exec_driver_sql("update usage_totals set failed = 0")
    assert [(each.name, each.rows) for each in verify_ledger(either_url).problems] == [("damaged row", 1)]
    repaired = repair_ledger(either_url)
    assert repaired.valid and repaired.repair is not None and repaired.repair.moved == {"completions": 1}
    with SqlLedger(either_url) as ledger:
        assert ledger.usage(by=GROUPS) == before, "what the moved completion cost is still counted"
        ledgered = LedgeredChat(chat, ledger, ACCOUNT)
        for each in (asked, request("another")):
            asyncio.run(ledgered.complete(each))
        assert chat.sent == 3, "only the damaged request is sent again"
        with ledger.connect() as connection:
            row = connection.exec_driver_sql("select digest from damaged_rows").one()
        assert row[0] == repaired.repair.digests[0]


def test_rows_of_another_version_without_checksums_are_used_and_get_checksums(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        store(ledger, A, B)
        ledger.keep_vectors({A: TimedVector(np.ones(2, "<f4"), 0.5)})
        with ledger.connect(transaction=True) as connection:
            connection.execute(sa.update(completions).values(checksum=None, request_checksum=None))
            connection.execute(sa.update(embeddings).values(checksum=None))
            connection.execute(sa.insert(unchecked_rows).values(table="completions", after=""))
        assert find(ledger, A) == completion(key=A) and ledger.vectors([A])
        change(ledger, completions, end="xanswere")
        with pytest.raises(DamagedRow):
            find(ledger, A)
        change(ledger, completions, end="answered")
    with SqlLedger(either_url) as ledger, ledger.connect() as connection:
        lacking = sa.select(completions.c.digest).where(completions.c.checksum.is_(None))
        assert connection.execute(lacking).all() == [], "opening a former ledger computes checksums"
    assert [each.name for each in verify_ledger(either_url).problems] == ["row without a checksum"]
    assert repair_ledger(either_url).valid


def test_no_bit_flip_of_a_ledger_file_is_read_silently(path: Path) -> None:
    results, lost = drill(40, seed=5, rows=12)
    assert not [result for result in results if result.startswith("silent")]
    assert results["damaged row"] > 0 and sum(results.values()) == 40
    assert max(lost) <= 1, "recovery loses at most the flipped row"


@pytest.mark.parametrize(
    "start", [0, 18, b"CREATE TABLE completions", 4096 * 3], ids=["magic", "version", "schema", "page"]
)
def test_recovery_rescues_rows_around_damaged_pages(path: Path, start: int | bytes) -> None:
    path.parent.mkdir()
    digests = fill(sqlite_url(path), 30)
    original = read(sqlite_url(path), digests)
    with path.open("r+b") as file:
        file.seek(start if isinstance(start, int) else path.read_bytes().index(start))
        file.write(random.Random(0).randbytes(60))
    assert not verify_ledger(sqlite_url(path)).valid
    repaired = repair_ledger(sqlite_url(path))
    assert repaired.valid and repaired.recovery is not None and repaired.recovery.backup.is_file()
    now = read(sqlite_url(path), digests)
    lost = [each for each in digests if now.completions[each] != original.completions[each]]
    assert len(lost) <= 2 and not [each for each in lost if now.completions[each] is not None]


def test_damaged_file_is_reported_in_one_sentence_with_the_next_step(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(StoreFailed, match=r"ledger\.sqlite is damaged .*memflow ledger recover"):
        SqlLedger(sqlite_url(path))
    with pytest.raises(BadInput, match="needs a SQLite file"):
        recover("postgresql+psycopg2://nobody@127.0.0.1:1/none")


def test_damaged_uses_are_reported_by_verification(url: str, path: Path) -> None:
    with SqlLedger(url) as ledger:
        store(ledger, A)
        with ledger.connect(transaction=True) as connection:
            connection.execute(sa.update(uses).values(run="another"))
    assert [each.name for each in verify_ledger(url).problems] == ["total that differs from its sum"]
