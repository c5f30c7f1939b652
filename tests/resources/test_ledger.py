"""The ledger on SQLite and PostgreSQL: completions, vectors, usage, concurrent processes and killed writers."""

import json
import multiprocessing
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from ledger_rows import ACCOUNT, Choice, completion, fill, request

from memflow.chat.ledger import RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest, Sampling, schema_digest
from memflow.errors import BadSettings
from resources.embedder import TimedVector
from resources.ledger import SqlLedger
from resources.ledger_tables import tables
from resources.limits import Prices
from resources.usage import UsageRow, cost


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/deep/ledger.sqlite"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def either_url(request: pytest.FixtureRequest, url: str) -> str:
    """Return the URL of an empty ledger, once per database."""
    if request.param == "sqlite":
        return url
    url = request.getfixturevalue("postgres_url")
    engine = sa.create_engine(url)
    tables.drop_all(engine)
    engine.dispose()
    return url


def test_ledger_does_not_replace_a_stored_completion(either_url: str) -> None:
    url = either_url
    with SqlLedger(url) as ledger, SqlLedger(url) as other:
        assert ledger.get("k") is None is other.get("k")
        ledger.put("k", request("é中\ud83d"), completion(), ACCOUNT)
        ledger.put("k", request("é中\ud83d"), completion("no"), ACCOUNT)
        assert ledger.get("k") == completion(key="k") == other.get("k")
        assert ledger.messages("k") == request("é中\ud83d").messages
        with pytest.raises(KeyError):
            ledger.messages("other")
    with SqlLedger(url) as ledger:
        assert ledger.get("k") == completion(key="k")
        assert ledger.digests() == {"k"}


def test_ledger_sums_usage_by_group(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        judge = RequestContext("run 1", "score", "judge", "d", "full", "j")
        later = RequestContext("run 2", "answer", "assistant", "d", "full", "m")
        ledger.put("a", request("a"), completion(), ACCOUNT)
        ledger.put("b", request("b"), completion(), ACCOUNT)
        ledger.put("c", request("c"), completion(), judge)
        ledger.used("a", request("a"), ACCOUNT)
        ledger.used("a", request("a"), later)
        ledger.failed(request("d"), ACCOUNT, "nobody there")
        ledger.failed(request("d"), judge, "nobody there")
        rows = ledger.usage(by=("role", "model"), run="run 1")
        assert rows == [
            UsageRow({"role": "assistant", "model": "m"}, 2, 1, 1, 30, 9, 12, 0.75, 20, 6),
            UsageRow({"role": "judge", "model": "j"}, 1, 0, 1, 10, 3, 4, 0.25, 10, 3),
        ]
        assert cost(rows[0], {"m": Prices(prompt=1e6, completion=2e6)}) == 20 + 12
        assert cost(rows[1], {"m": Prices(prompt=1e6)}) == 0
        (whole,) = ledger.usage(by=())
        assert (whole.requests, whole.cache_hits, whole.failed) == (3, 2, 2)
        (second,) = ledger.usage(by=("run",), run="run 2")
        assert second == UsageRow({"run": "run 2"}, 0, 1, 0, 10, 3, 4, 0.25, 0, 0)
        (hit,) = ledger.usage(by=("model",), run="run 2")
        assert cost(hit, {"m": Prices(prompt=1.0, completion=1.0)}) == 0
        with pytest.raises(BadSettings, match="cannot be grouped by colour"):
            ledger.usage(by=("colour",))


def test_needed_usage_of_a_run_counts_each_completion_once(url: str) -> None:
    """Repeated requests and cache hits of a run count once."""
    replay = RequestContext("run 2", "answer", "assistant", "d", "full", "m")
    with SqlLedger(url) as ledger:
        ledger.put("a", request("a"), completion(), ACCOUNT)
        ledger.put("b", request("b"), completion(), ACCOUNT)
        ledger.used("b", request("b"), ACCOUNT)
        for key in ("a", "b", "b", "b"):
            ledger.used(key, request(key), replay)
        (first,) = ledger.needed(("role",), "run 1")
        (second,) = ledger.needed(("role",), "run 2")
        assert first == UsageRow({"role": "assistant"}, 2, 0, 0, 20, 6, 8, 0.5, 20, 6) == second
        ledger.failed(request("c"), ACCOUNT, "nobody there")
        assert ledger.needed(("role",), "run 1")[0].failed == 1
        assert ledger.needed(("role",), "run 3") == []


def test_ledger_calls_on_use_for_sent_cached_and_failed_requests(url: str) -> None:
    seen: list[tuple[str, str, str]] = []
    with SqlLedger(url, on_use=lambda event, req, acc: seen.append((event, req.prompt, acc.stage))) as ledger:
        ledger.put("a", request("a"), completion(), ACCOUNT)
        ledger.used("a", request("a"), ACCOUNT)
        ledger.failed(request("b"), ACCOUNT, "no")
    assert seen == [(event, "a/prompt", "answer") for event in ("asked", "kept", "failed")]


def test_ledger_does_not_replace_a_stored_vector(either_url: str) -> None:
    vectors = {f"k{n}": TimedVector(np.arange(4, dtype=np.float32) + n, n / 8) for n in range(1200)}
    with SqlLedger(either_url) as ledger:
        ledger.keep_vectors(vectors)
        ledger.keep_vectors({"k0": TimedVector(np.zeros(4, dtype=np.float32), 9.0)})
        found = ledger.vectors([*vectors, "other"])
    assert found.keys() == vectors.keys()
    assert all(np.array_equal(found[key].vector, vectors[key].vector) for key in vectors)
    assert all(found[key].seconds == vectors[key].seconds for key in vectors)


def test_vectors_of_a_former_ledger_version_have_zero_seconds(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with sqlite3.connect(path) as older:
        older.execute("create table embeddings (digest varchar(32) primary key, vector blob not null)")
        older.execute("insert into embeddings values ('k', ?)", (np.ones(2, dtype="<f4").tobytes(),))
    with SqlLedger(f"sqlite:///{path}") as ledger:
        kept = ledger.vectors(["k"])["k"]
        assert (kept.vector.tolist(), kept.seconds) == ([1, 1], 0.0)


def test_ledger_rejects_an_invalid_url_without_showing_the_password(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a database, but long enough to be read as one" * 100)
    for wrong in ("sqlite://", "nonsense", "oracle9://x/y", f"sqlite:///{tmp_path}/file"):
        with pytest.raises(BadSettings):
            SqlLedger(wrong)
    with pytest.raises(BadSettings) as caught:
        SqlLedger("postgresql+psycopg2://user:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)


def test_pickled_ledger_opens_its_own_connections(url: str) -> None:
    with SqlLedger(url) as ledger:
        ledger.put("a", request("a"), completion(), ACCOUNT)
        other = pickle.loads(pickle.dumps(ledger))  # noqa: S301
        assert other.get("a") is not None
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


def test_forked_process_and_its_parent_can_both_use_the_ledger(url: str) -> None:
    with SqlLedger(url) as ledger:
        ledger.put("a", request("a"), completion(), ACCOUNT)
        ledger.used("a", request("a"), ACCOUNT)
        child = os.fork()
        if child == 0:
            ledger.put("b", request("b"), completion(), ACCOUNT)
            ledger.flush()
            os._exit(0 if ledger.get("a") else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert ledger.get("b") is not None
        (row,) = ledger.usage(by=("run",))
        assert (row.requests, row.cache_hits) == (2, 1)


WRITER = """
import sys
from memflow.chat.ledger import RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest, Completion
from resources.embedder import TimedVector
from resources.ledger import SqlLedger

ledger = SqlLedger(sys.argv[1])
said = (ChatMessage("user", "x" * 500),)
for n in range(100000):
    ledger.put(f"k{n}", ChatRequest("p", {}, said), Completion("y" * 500), RequestContext())
    print(n, flush=True)
"""


@pytest.mark.kill
def test_killed_process_loses_no_completion_stored_in_the_ledger(url: str) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read()
    last = int(said.split()[-1])
    assert last > 10
    with SqlLedger(url) as ledger:
        assert {f"k{n}" for n in range(last + 1)} <= ledger.digests()


def test_ledger_stores_request_parameters_in_columns(url: str, tmp_path: Path) -> None:
    sampled = ChatRequest("p", {}, (ChatMessage("user", "x"),), Sampling(0.7, 0.9, 12, 5), Choice, 2)
    with SqlLedger(url) as ledger:
        ledger.put("a", sampled, completion(), ACCOUNT)
    with sqlite3.connect(tmp_path / "deep" / "ledger.sqlite") as connection:
        (row,) = connection.execute(
            "select prompt, model, parameters, schema, attempt, text from completions"
        )
    assert json.loads(row[2]) == {"temperature": 0.7, "top_p": 0.9, "max_tokens": 12, "seed": 5}
    assert (row[0], row[1], row[3], row[4], row[5]) == ("p", "m", schema_digest(Choice), 2, "yes")
