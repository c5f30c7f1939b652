"""A run with memory servers, killed several times: it repeats no stored request, and writes the tables of one run."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stub import stub_process

DOMAIN = "amemgym_base"
MODES = ("as_of", "fork", "ask_at_once", "replay", "restore")
ECHO = Path(__file__).parents[1] / "echo.py"
KILLS = (5, 25, 50)
"""The number of answers of a start after which it is killed."""


def command(folder: Path, url: str) -> list[str]:
    """Return the command of a run, whose settings are in a folder."""
    folder.mkdir(exist_ok=True)
    memories = (
        f'[memories.{mode}]\ncommand = ["{sys.executable}", "{ECHO}"]\nmode = "{mode}"\nunchecked = true\n'
        for mode in MODES
    )
    (folder / "memflow.toml").write_text("".join(memories), encoding="utf-8")
    names = [part for mode in MODES for part in ("--memory", mode)]
    wanted = f"--domain {DOMAIN} --no-bounds --url {url} --model stub --embedder hashing --parallel 5".split()
    return [sys.executable, "-m", "memflow.cli", "--home", str(folder / "home"), "run", *names, *wanted]


def request_digests(log: Path) -> list[str]:
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [line["key"] for line in map(json.loads, lines) if line["status"] == 200]


def stored_digests(home: Path) -> set[str]:
    """Return the requests that the ledger has answers of; of a run that was killed at its start, none."""
    if not (home / "ledger.sqlite").exists():
        return set()
    with sqlite3.connect(home / "ledger.sqlite") as connection:
        return {digest for (digest,) in connection.execute("select digest from completions")}


@pytest.mark.kill
def test_killed_runs_with_memory_servers_repeat_no_request_and_give_the_same_tables(
    tmp_path: Path, published_users, clean_environment, contents
) -> None:
    data = published_users(tmp_path / "data", users=3, periods=4, questions=3)
    environment = {**clean_environment, "MEMFLOW_DATA": str(data)}
    undisturbed, killed, log = tmp_path / "undisturbed", tmp_path / "killed", tmp_path / "log.jsonl"
    with stub_process(latency=0.02) as url:
        subprocess.run(
            command(undisturbed, url),
            cwd=undisturbed,
            env=environment,
            check=True,
            capture_output=True,
            timeout=300,
        )
    with stub_process(latency=0.02, log=log) as url:
        arguments = command(killed, url)
        for answers in KILLS:
            stored, before = stored_digests(killed / "home"), len(request_digests(log))
            process = subprocess.Popen(
                arguments,
                cwd=killed,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            while len(request_digests(log)) < before + answers and process.poll() is None:
                time.sleep(0.01)
            assert process.poll() is None, "the run ended before it could be killed: give it more to do"
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            assert stored.isdisjoint(request_digests(log)[before:])
        stored, before = stored_digests(killed / "home"), len(request_digests(log))
        assert len(stored) >= len(KILLS)
        subprocess.run(arguments, cwd=killed, env=environment, check=True, capture_output=True, timeout=300)
    last = request_digests(log)[before:]
    assert last and stored.isdisjoint(last)
    assert contents(killed / "home") == contents(undisturbed / "home")
