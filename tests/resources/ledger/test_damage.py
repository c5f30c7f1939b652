"""Damaged ledgers: impossible values and damaged pages are reported in a sentence, and never used as answers."""

import asyncio
import random
import shutil
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from ledger_rows import ACCOUNT, completion, find, request, store

from memflow.chat.ledger import LedgeredChat
from memflow.chat.requests import Sampling, TokenBound
from memflow.errors import DamagedRow, MemflowError, StoreFailed
from memflow.resources.files.sqlite_urls import sqlite_url
from memflow.resources.ledger.damage import ledger_damage
from memflow.resources.ledger.maintenance import CompletionFilter, forget
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.ledger.tables import completions, embeddings
from memflow.resources.ledger.usage import GROUPS
from memflow.resources.models.cached_embedder import TimedVector

A, B = "a" * 32, "b" * 32
FORGET = f"memflow ledger forget --digest {A}"
ROWS = 30


def change(ledger: SqlLedger, table: sa.Table, **values: object) -> None:
    with ledger.connect(transaction=True) as connection:
        connection.execute(sa.update(table).where(table.c.digest == A).values(**values))


def flip(path: Path, at: int, bit: int = 1) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        [value] = file.read(1)
        file.seek(at)
        file.write(bytes([value ^ bit]))


@pytest.fixture
def filled(path: Path) -> Path:
    """Return the path of a ledger with ROWS answers and vectors, all in its main file."""
    path.parent.mkdir()
    with SqlLedger(sqlite_url(path)) as ledger:
        store(ledger, *(f"{number:032x}" for number in range(ROWS)), text="an answer " * 20)
        ledger.keep_vectors({f"{number:032x}": TimedVector(np.ones(8, "<f4"), 0.5) for number in range(ROWS)})
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.mark.parametrize(
    "values",
    [{"end": "broken"}, {"prompt_tokens": -1}, {"reasoning_tokens": -(2**20)}],
    ids=lambda values: next(iter(values)),
)
def test_lookup_of_a_row_with_impossible_values_fails_alone(
    either_url: str, values: dict[str, object]
) -> None:
    with SqlLedger(either_url) as ledger:
        store(ledger, A, B)
        change(ledger, completions, **values)

        async def find_both() -> list[object]:
            return await asyncio.gather(ledger.get(A), ledger.get(B), return_exceptions=True)

        damaged, whole = asyncio.run(find_both())
        assert isinstance(damaged, DamagedRow) and FORGET in str(damaged)
        assert whole == completion(key=B)
        with pytest.raises(DamagedRow):
            ledger.requests([A])
    assert [FORGET in sentence for sentence in ledger_damage(either_url, whole=True)] == [True]


@pytest.mark.parametrize(
    ("column", "value"),
    [("text", "cast(x'ff79' as text)"), ("text", "x'00'"), ("latency_s", "'slow'"), ("estimated", "7")],
)
def test_values_of_another_type_and_invalid_utf8_are_damaged(
    url: str, path: Path, column: str, value: str
) -> None:
    with SqlLedger(url) as ledger:
        store(ledger, A, B)
    with sqlite3.connect(path) as connection:
        connection.execute(f"update completions set {column} = {value} where digest = ?", (A,))
    with SqlLedger(url) as ledger:
        with pytest.raises(DamagedRow, match=FORGET):
            find(ledger, A)
        assert find(ledger, B) == completion(key=B)


def test_messages_that_cannot_be_decompressed_are_damaged(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        store(ledger, A)
        for damaged in (b"\x00", b"\x04\x22\x4d\x18damaged"):
            change(ledger, completions, messages=damaged)
            with pytest.raises(DamagedRow, match=FORGET):
                ledger.messages(A)
            with pytest.raises(DamagedRow):
                ledger.requests([A])
    assert [FORGET in sentence for sentence in ledger_damage(either_url, whole=True)] == [True]


@pytest.mark.parametrize("vector", [b"\x00" * 7, b"", np.full(2, np.nan, "<f4").tobytes()])
def test_damaged_vector_is_not_returned_until_it_is_forgotten(either_url: str, vector: bytes) -> None:
    vectors = {each: TimedVector(np.ones(2, "<f4"), 0.5) for each in (A, B)}
    with SqlLedger(either_url) as ledger:
        ledger.keep_vectors(vectors)
        change(ledger, embeddings, vector=vector)
        with pytest.raises(DamagedRow, match=FORGET):
            ledger.vectors([A, B])
        assert len(list(ledger_damage(either_url, whole=True))) == 1
        with ledger.connect(transaction=True) as connection:
            forget(connection, CompletionFilter(digest=A))
        assert list(ledger.vectors([A, B])) == [B]


def test_damaged_answer_is_sent_again_only_after_it_is_forgotten(either_url: str) -> None:
    class CountingChat:
        fingerprint, sampling, bound, scripted = "m", Sampling(), TokenBound(), False
        sent = 0

        async def complete(self, request):  # type: ignore[no-untyped-def]
            self.sent += 1
            return completion("new")

    asked = request("question")
    chat = CountingChat()
    with SqlLedger(either_url) as ledger:
        ledgered = LedgeredChat(chat, ledger, ACCOUNT)
        answer = asyncio.run(ledgered.complete(asked))
        asyncio.run(ledgered.complete(request("another")))
        with ledger.connect(transaction=True) as connection:
            row = completions.c.digest == answer.digest
            connection.execute(sa.update(completions).where(row).values(end="?"))
        with pytest.raises(DamagedRow):
            asyncio.run(ledgered.complete(asked))
        assert chat.sent == 2
        assert ledger.unfinished(ACCOUNT.run, ACCOUNT.stage) == 1, "the partition is not up to date"
        before = ledger.usage(by=GROUPS)
        with ledger.connect(transaction=True) as connection:
            assert forget(connection, CompletionFilter(digest=answer.digest)) == 1
        assert ledger.usage(by=GROUPS) == before, "what the deleted completion cost is still counted"
        for each in (asked, request("another")):
            asyncio.run(ledgered.complete(each))
        assert chat.sent == 3, "only the damaged request is sent again"


def test_bit_flip_of_a_ledger_file_raises_no_bare_exception(filled: Path, tmp_path: Path) -> None:
    """Whatever a flip changes, a ledger that is used, summed and checked answers or reports a sentence."""
    generator = random.Random(4)
    reported = 0
    for number in range(24):
        copy = tmp_path / f"{number}.sqlite"
        shutil.copy(filled, copy)
        # A third of the flips are in the header and the schema, which are small.
        flip(copy, generator.randrange(3_000 if number % 3 == 0 else copy.stat().st_size), 1 << number % 8)
        try:
            with SqlLedger(sqlite_url(copy)) as ledger:
                store(ledger, *(f"{key:032x}" for key in range(0, ROWS + 1, 5)))
                ledger.usage()
                ledger.vectors([f"{key:032x}" for key in range(ROWS)])
                ledger.requests([f"{key:032x}" for key in range(ROWS)])
        except MemflowError as error:
            reported += 1
            assert any(words in str(error) for words in ("memflow ledger forget", ".recover", "another vers"))
        list(ledger_damage(sqlite_url(copy), whole=True))
    assert reported > 0


@pytest.mark.parametrize(
    "start", [0, 18, b"CREATE TABLE completions", 4096 * 3], ids=["magic", "version", "schema", "page"]
)
def test_damaged_page_is_reported_in_one_sentence_with_the_command_that_rescues_rows(
    filled: Path, start: int | bytes
) -> None:
    at = start if isinstance(start, int) else filled.read_bytes().index(start)
    with filled.open("r+b") as file:
        file.seek(at)
        file.write(random.Random(0).randbytes(60))
    [sentence] = ledger_damage(sqlite_url(filled), whole=True)
    assert str(filled) in sentence and "is damaged (" in sentence
    assert f"`sqlite3 {filled} .recover | sqlite3 " in sentence


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="the program sqlite3 is not installed")
def test_rows_around_a_damaged_page_are_rescued_by_a_dump(filled: Path, tmp_path: Path) -> None:
    """The second way in docs/how-to/deploy.md: not every distribution's sqlite3 has `.recover`."""
    page = filled.read_bytes().index(b"an answer ") // 4096
    with filled.open("r+b") as file:
        file.seek(page * 4096)
        file.write(random.Random(0).randbytes(60))
    with pytest.raises(StoreFailed, match=r"\.recover"), SqlLedger(sqlite_url(filled)) as ledger:
        ledger.requests([f"{key:032x}" for key in range(ROWS)])
    new = tmp_path / "new.sqlite"
    command = f"sqlite3 {filled} .dump | sed 's/^ROLLBACK.*/COMMIT;/' | sqlite3 {new}"
    subprocess.run(command, shell=True, check=True, capture_output=True)
    with SqlLedger(sqlite_url(new)) as ledger:
        rescued = ledger.digests()
        assert len(rescued) >= ROWS - 15
        assert all(row.completion.text == "an answer " * 20 for row in ledger.requests([*rescued]).values())
        store(ledger, A)


def test_ledger_of_another_version_is_rejected_with_the_next_step(either_url: str) -> None:
    SqlLedger(either_url).close()
    engine = sa.create_engine(either_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE completions ADD COLUMN checksum BIGINT")
    engine.dispose()
    with pytest.raises(MemflowError, match=r"written by another version of memflow\. Choose another `home`"):
        SqlLedger(either_url)
    [sentence] = ledger_damage(either_url, whole=False)
    assert "another version" in sentence
