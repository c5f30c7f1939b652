"""The ledger on SQLite and PostgreSQL: completions, vectors, concurrent processes and killed writers."""

import asyncio
import json
import multiprocessing
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from ledger_rows import ACCOUNT, Choice, completion, fill, find, request, store

from memflow.chat.requests import ChatMessage, ChatRequest, Sampling, schema_digest
from memflow.errors import BadSettings, StoreFailed
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.cached_embedder import TimedVector


def test_ledger_does_not_replace_a_stored_completion(either_url: str) -> None:
    with SqlLedger(either_url) as ledger, SqlLedger(either_url) as other:
        assert find(ledger, "k") is None is find(other, "k")
        assert store(ledger, "k") == [completion(key="k")]
        assert store(ledger, "j", "k", "l", text="no") == [
            completion("no", "j"),
            completion("yes", "k"),
            completion("no", "l"),
        ]
        assert find(ledger, "k") == completion(key="k") == find(other, "k")
    with SqlLedger(either_url) as ledger:
        assert find(ledger, "k") == completion(key="k")
        assert ledger.digests() == {"j", "k", "l"}


def test_messages_of_a_request_are_stored(either_url: str) -> None:
    asked = request("é中\ud83d")

    async def put() -> None:
        await ledger.put(completion(key="k"), asked, ACCOUNT)

    with SqlLedger(either_url) as ledger:
        asyncio.run(put())
        assert ledger.messages("k") == asked.messages
        with pytest.raises(KeyError):
            ledger.messages("other")


async def test_identical_completions_of_one_commit_are_stored_once(url: str) -> None:
    with SqlLedger(url) as ledger:
        puts = [ledger.put(completion(text, "k"), request("k"), ACCOUNT) for text in ("first", "second")]
        assert [each.text for each in await asyncio.gather(*puts)] == ["first", "first"]
        assert ledger.usage(by=())[0].requests == 2


async def test_concurrent_ledger_lookups_return_the_matching_completions(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        await asyncio.gather(
            *(ledger.put(completion(f"{n}", f"k{n}"), request("x"), ACCOUNT) for n in range(0, 1200, 2))
        )
        found = await asyncio.gather(*(ledger.get(f"k{n}") for n in range(1200)))
    assert found == [None if n % 2 else completion(f"{n}", f"k{n}") for n in range(1200)]


def test_ledger_does_not_replace_a_stored_vector(either_url: str) -> None:
    vectors = {f"k{n}": TimedVector(np.arange(4, dtype=np.float32) + n, n / 8) for n in range(1200)}
    with SqlLedger(either_url) as ledger:
        ledger.keep_vectors(vectors)
        ledger.keep_vectors({"k0": TimedVector(np.zeros(4, dtype=np.float32), 9.0)})
        found = ledger.vectors([*vectors, "other"])
    assert found.keys() == vectors.keys()
    assert all(np.array_equal(found[key].vector, vectors[key].vector) for key in vectors)
    assert all(found[key].seconds == vectors[key].seconds for key in vectors)


def test_ledger_rejects_an_invalid_url_without_showing_the_password(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a database, but long enough to be read as one" * 100)
    for wrong in ("sqlite://", "nonsense", "oracle9://x/y"):
        with pytest.raises(BadSettings):
            SqlLedger(wrong)
    with pytest.raises(StoreFailed, match=r"not a database.*\.recover"):
        SqlLedger(f"sqlite:///{tmp_path}/file")
    with pytest.raises(BadSettings) as caught:
        SqlLedger("postgresql+psycopg2://user:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)


def test_pickled_ledger_opens_its_own_connections(url: str) -> None:
    with SqlLedger(url) as ledger:
        store(ledger, "a")
        other = pickle.loads(pickle.dumps(ledger))  # noqa: S301
        assert find(other, "a") is not None
        assert other._engine is not ledger._engine
        other.close()


def test_four_processes_write_to_a_new_ledger_without_losing_rows(either_url: str) -> None:
    context = multiprocessing.get_context("forkserver")
    count = 60
    processes = [context.Process(target=fill, args=(either_url, number, count)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    with SqlLedger(either_url) as ledger:
        assert len(ledger.digests()) == 5 * count
        (row,) = ledger.usage(by=("run",))
        assert (row.requests, row.cache_hits) == (8 * count, 8 * count)


def test_forked_process_and_its_parent_can_both_use_the_ledger(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        (stored,) = store(ledger, "a")
        ledger.record_cache_hit(stored, request("a"), ACCOUNT)
        child = os.fork()
        if child == 0:
            store(ledger, "b")
            ledger.flush()
            os._exit(0 if find(ledger, "a") else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert find(ledger, "b") is not None
        (row,) = ledger.usage(by=("run",))
        assert (row.requests, row.cache_hits) == (2, 1)


def test_threads_with_event_loops_share_a_ledger(either_url: str) -> None:
    with SqlLedger(either_url) as ledger, ThreadPoolExecutor(4) as threads:
        for number in range(4):
            threads.submit(store, ledger, *(f"{number} {n}" for n in range(50)))
        counts = [sum(row.requests for row in threads.submit(ledger.usage).result()) for _ in range(5)]
        threads.shutdown()
        assert counts == sorted(counts)
        assert len(ledger.digests()) == 200 == ledger.usage(by=())[0].requests


WRITER = """
import asyncio
import sys
from memflow.chat.ledger import RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest, Completion
from memflow.resources.ledger.database import CACHED_STATEMENTS
from memflow.resources.ledger.sql_ledger import SqlLedger

ledger = SqlLedger(sys.argv[1])
said = (ChatMessage("user", "x" * 500),)
async def put(n):
    for m in range(n, 10**6, 8):
        await ledger.put(Completion("y" * 500, digest=f"k{m}"), ChatRequest("p", {}, said), RequestContext())
        print(m, flush=True)
async def main():
    await asyncio.gather(*map(put, range(8)))
asyncio.run(main())
"""


@pytest.mark.kill
def test_killed_process_loses_no_completion_stored_in_the_ledger(url: str) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read()
    stored = {f"k{number}" for number in said.split("\n")[:-1]}
    assert len(stored) > 10
    with SqlLedger(url) as ledger:
        assert stored <= ledger.digests()
        assert ledger.usage(by=())[0].requests == len(ledger.digests())


def test_ledger_stores_request_parameters_in_columns(url: str, tmp_path: Path) -> None:
    sampled = ChatRequest("p", {}, (ChatMessage("user", "x"),), Sampling(0.7, 0.9, 12, 5), Choice, 2)

    async def put() -> None:
        await ledger.put(completion(key="a"), sampled, ACCOUNT)

    with SqlLedger(url) as ledger:
        asyncio.run(put())
    with sqlite3.connect(tmp_path / "deep" / "ledger.sqlite") as connection:
        (row,) = connection.execute(
            "select prompt, model, parameters, schema, attempt, text from completions"
        )
    assert json.loads(row[2]) == {"temperature": 0.7, "top_p": 0.9, "max_tokens": 12, "seed": 5}
    assert (row[0], row[1], row[3], row[4], row[5]) == ("p", "m", schema_digest(Choice), 2, "yes")
