"""A real `memflow dev` that is killed in the middle of a backfill. bench/soak.py does this at random, many times."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from stub import request_digests, stub_process

from bench.dev_server import DOMAIN, ROOT, DevHome, await_true, environment

pytestmark = [pytest.mark.daemon, pytest.mark.kill]

ASSISTANTS = ("full", "recent", "bm25_message")
PARTITIONS = [f"{assistant}|{DOMAIN}" for assistant in ASSISTANTS]
SIZE = {"users": 1, "periods": 4}
PATIENCE_S = 400.0
STARTING = {"NOT_STARTED", "STARTING"}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the contents of the tables after a `memflow run` that nothing disturbs."""
    with stub_process(latency=0.02) as url:
        home = DevHome(tmp_path_factory.mktemp("undisturbed") / "home", url, ["none", *ASSISTANTS], **SIZE)
        home.run("none", *ASSISTANTS)
        return home.contents()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "requests.jsonl"


@pytest.fixture
def home(tmp_path: Path, log: Path) -> Iterator[DevHome]:
    """Return a home with a generated domain. Its model answers after 0.3 s, so that runs take a while."""
    with stub_process(latency=0.3, log=log) as url:
        home = DevHome(tmp_path / "home", url, ["none", *ASSISTANTS], **SIZE)
        home.run("none")
        try:
            yield home
        finally:
            home.stop()


def await_requests(log: Path, number: int) -> None:
    """Wait until the runs have received this number of further answers."""
    before = len(request_digests(log))
    await_true("requests", lambda: len(request_digests(log)) >= before + number, PATIENCE_S, 0.05)


def test_backfill_of_a_killed_memflow_dev_ends_by_itself(
    home: DevHome, log: Path, undisturbed: dict[str, str]
) -> None:
    home.start()
    backfill = home.backfill("evaluate_memory", PARTITIONS)
    await_requests(log, 5)
    known = home.stored_digests()
    home.kill_group()
    time.sleep(1)  # the answers in flight are logged
    killed = len(request_digests(log))
    assert home.claimed_slots() > 0
    assert "STARTED" in home.statuses()

    home.start()
    assert "returned to the queue" in home.log.read_text()
    await_requests(log, 5)
    # A run that the daemon was just starting would be retried, too.
    await_true("all runs to have started", lambda: not STARTING & home.statuses().keys(), PATIENCE_S, 0.05)
    assert home.kill("worker")
    await_true("the backfill to end", lambda: home.has_ended(backfill), PATIENCE_S, 2)
    ended = home.partitions(backfill)
    assert {partition: runs[0] for partition, runs in ended.items()} == dict.fromkeys(PARTITIONS, "SUCCESS")
    assert sum(map(len, ended.values())) <= len(PARTITIONS) + 1, (
        "the run of the killed worker is retried once"
    )
    assert home.runs_in_progress() == 0
    await_true("Dagster's monitoring to free the slot", lambda: home.claimed_slots() == 0, PATIENCE_S, 2)
    assert not known.intersection(request_digests(log)[killed:]), "requested again what the ledger contained"

    refused = subprocess.run(
        home.command("dev"), env=environment(), cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert refused.returncode == 1
    assert f"already runs on this home at http://127.0.0.1:{home.port}" in " ".join(refused.stderr.split())
    home.run(*ASSISTANTS)  # the leaderboard
    assert home.contents() == undisturbed
