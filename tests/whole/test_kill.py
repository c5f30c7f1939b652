"""A run with eight partitions side by side, killed at random moments: it repeats no stored request, and writes the
same tables as one partition at a time.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest
from stub import stub_process

KILLS = 30
DOMAIN = "amemgym_base"
SEED = 20
IN_FLIGHT = 64
MEMORIES = (
    *("full", "recent", "none", "rag_2_4_30"),
    *("bm25_message", "bm25_session", "embed_message", "embed_session"),
)


def command(home: Path, url: str, parallel: int) -> list[str]:
    memories = [part for name in MEMORIES for part in ("--memory", name)]
    wanted = f"--domain {DOMAIN} --no-bounds --url {url} --model stub --embedder hashing --parallel {parallel}".split()
    return [sys.executable, "-m", "memflow.cli", "--home", str(home), "run", *memories, *wanted]


def stored_digests(home: Path) -> set[str]:
    path = home / "ledger.sqlite"
    if not path.exists():
        return set()
    with sqlite3.connect(path) as connection:
        try:
            return {digest for (digest,) in connection.execute("select digest from completions")}
        except sqlite3.OperationalError:
            return set()  # killed before its tables were made


def request_digests(log: Path) -> list[str]:
    if not log.exists():
        return []
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [line["key"] for line in lines if line["status"] == 200]


@pytest.mark.kill
def test_killed_runs_repeat_no_stored_request_and_give_the_same_tables(
    tmp_path: Path, published_users, clean_environment, contents
) -> None:
    environment = {
        **clean_environment,
        "MEMFLOW_DATA": str(published_users(tmp_path / "data", users=6, periods=6, questions=4)),
    }
    chance = random.Random(SEED)
    undisturbed, home = tmp_path / "undisturbed", tmp_path / "home"
    log = tmp_path / "asked.jsonl"
    with stub_process(latency=0.05) as url:
        subprocess.run(
            command(undisturbed, url, 1), env=environment, check=True, capture_output=True, timeout=900
        )
    moments, unkept = [], 0
    with stub_process(latency=0.05, log=log) as url:
        for _ in range(KILLS):
            known, before = stored_digests(home), len(request_digests(log))
            process = subprocess.Popen(
                command(home, url, 8),
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            # A moment counted in answers, so that kills fall into the work and not into the start-up.
            until = before + chance.randint(0, 60)
            while len(request_digests(log)) < until and process.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.random() * 0.1)
            assert process.poll() is None, "the run ended before it could be killed: give it more to do"
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            new = request_digests(log)[before:]
            moments.append(len(new))
            # Answers on their way when the process died reached nobody: no more than were in flight. Answers that
            # waited for their commit were not used; their places were free again, so under load they are as many
            # again. On average both together are fewer than the places. All before them have to be in the ledger.
            lost = set(new) - stored_digests(home)
            assert len(lost) <= 2 * IN_FLIGHT
            unkept += len(lost)
            assert not known & set(new), "asked again what the ledger held when the process was started"
            assert max(Counter(new).values(), default=1) == 1, "asked twice by one process"
            settle(url)
        known, before = stored_digests(home), len(request_digests(log))
        subprocess.run(command(home, url, 8), env=environment, check=True, capture_output=True, timeout=900)
        assert not known & set(request_digests(log)[before:])
    assert unkept <= KILLS * IN_FLIGHT
    assert sum(moment > 0 for moment in moments) >= KILLS // 2, f"the kills hit nothing: {moments}"
    assert contents(home) == contents(undisturbed)
    print(f"{len(request_digests(log))} answers; kills after {moments} answers; {unkept} in flight at a kill")


def settle(url: str) -> None:
    """Wait until the stub has no requests in flight."""
    while True:
        with urllib.request.urlopen(url.removesuffix("/v1") + "/stub/counts") as counts:
            if json.load(counts)["in_flight"] == 0:
                return
        time.sleep(0.02)
