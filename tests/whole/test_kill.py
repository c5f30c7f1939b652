"""Runs with several partitions side by side, killed at random moments: they repeat no stored request, and write the
same tables as a run that nothing disturbs.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from stub import request_counts, request_digests, stub_process

KILLS = int(os.environ.get("MEMFLOW_KILLS", "4"))
"""The number of kills. Before a release it is 20 or more."""
DOMAIN = "amemgym_base"
SEED = 20
USERS = max(2, KILLS // 4)
"""So many that each kill falls into the work."""
IN_FLIGHT = 64
MOST = 40
"""The answers of a run at most before it is killed."""
MODES = ("as_of", "ask_at_once", "restore")
MEMORIES = ("full", "as_of", "recent", "none", "bm25_message", "ask_at_once", "embed_message", "restore")
"""Memories and memory servers by turns, so that runs of both kinds are under way at each kill."""
SERVERS = "".join(
    f'[memories.{mode}]\ncommand = ["{sys.executable}", "{Path(__file__).parents[1] / "echo.py"}"]\n'
    f'mode = "{mode}"\nunchecked = true\n'
    for mode in MODES
)


def stored_digests(home: Path) -> set[str]:
    path = home / "ledger.sqlite"
    if not path.exists():
        return set()
    with sqlite3.connect(path) as connection:
        try:
            return {digest for (digest,) in connection.execute("select digest from completions")}
        except sqlite3.OperationalError:
            return set()  # killed before its tables were made


@pytest.mark.kill
def test_killed_runs_repeat_no_stored_request_and_give_the_same_tables(
    tmp_path: Path, published_users, clean_environment, contents
) -> None:
    data = published_users(tmp_path / "data", users=USERS, periods=4, questions=4)
    environment = {**clean_environment, "MEMFLOW_DATA": str(data)}
    (tmp_path / "memflow.toml").write_text(SERVERS, encoding="utf-8")
    undisturbed, home, log = tmp_path / "undisturbed", tmp_path / "home", tmp_path / "requests.jsonl"

    def start(home: Path, url: str) -> subprocess.Popen[bytes]:
        chosen = [part for name in MEMORIES for part in ("--memory", name)]
        options = f"--domain {DOMAIN} --no-baselines --url {url} --model stub --embedder hashing --parallel 8"
        return subprocess.Popen(
            [sys.executable, "-m", "memflow.cli", "--home", home, "run", *chosen, *options.split()],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    with stub_process(latency=0.02) as url:
        assert start(undisturbed, url).wait(900) == 0
    chance, moments, lost = random.Random(SEED), [], 0
    with stub_process(latency=0.05, log=log) as url:
        for _ in range(KILLS):
            stored, before = stored_digests(home), len(request_digests(log))
            process = start(home, url)
            # A moment counted in answers, so that kills fall into the work and not into the start-up.
            until = before + chance.randint(1, MOST)
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
            unstored = set(new) - stored_digests(home)
            assert len(unstored) <= 2 * IN_FLIGHT
            lost += len(unstored)
            assert not stored & set(new), "requested again what the ledger contained when the process started"
            assert max(Counter(new).values(), default=1) == 1, "requested twice by one process"
            while request_counts(url)["in_flight"]:
                time.sleep(0.02)
        stored, before = stored_digests(home), len(request_digests(log))
        assert start(home, url).wait(900) == 0
        last = request_digests(log)[before:]
    assert stored and last and stored.isdisjoint(last)
    assert lost <= KILLS * IN_FLIGHT
    assert sum(moment > 0 for moment in moments) >= KILLS // 2, f"the kills hit nothing: {moments}"
    assert contents(home) == contents(undisturbed)
    print(f"{len(request_digests(log))} answers; kills after {moments} answers; {lost} in flight at a kill")
