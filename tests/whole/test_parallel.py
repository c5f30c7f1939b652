"""Partitions side by side: the same tables for any number at once, and one limit of requests."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stub import count_answers, request_counts, stub_process

DOMAIN = "amemgym_base"
MEMORIES = ("none", "full", "recent", "bm25_message", "embed_message")

pytestmark = pytest.mark.pipeline


@pytest.fixture(scope="module")
def environment(
    tmp_path_factory: pytest.TempPathFactory,
    published_users: Callable[..., Path],
    own_environment: dict[str, str],
) -> dict[str, str]:
    data = published_users(tmp_path_factory.mktemp("data"), users=4, periods=3, questions=2)
    return {**own_environment, "MEMFLOW_DATA": str(data)}


def command(home: Path, url: str, parallel: int) -> list[str]:
    memories = [part for name in MEMORIES for part in ("--memory", name)]
    order = ["--domain", DOMAIN, *memories, "--no-baselines", "--url", url, "--model", "stub"]
    order += ["--embedder", "hashing", "--parallel", str(parallel), "--format", "json"]
    return [sys.executable, "-m", "memflow.cli", "--home", str(home), "run", *order]


def run(home: Path, url: str, parallel: int, environment: dict[str, str]) -> dict[str, Any]:
    ended = subprocess.run(
        command(home, url, parallel),
        env=environment,
        cwd=home.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ended.stdout, ended.stderr
    return json.loads(ended.stdout)


@pytest.fixture(scope="module")
def serial(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Return the home and the summary of a run with one partition at a time."""
    home = tmp_path_factory.mktemp("serial") / "home"
    with stub_process(latency=0.01) as url:
        yield home, run(home, url, 1, environment)


def usage(summary: dict[str, Any]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the uses of completions and their tokens by stage and role."""
    return {
        (row["stage"], row["role"]): (row["requests"] + row["cache_hits"], row["prompt_tokens"])
        for row in summary["usage"]
    }


def test_parallel_run_writes_the_tables_and_usage_of_a_serial_run(
    tmp_path: Path, environment, contents, serial
) -> None:
    home, log = tmp_path / "home", tmp_path / "answers.jsonl"
    with stub_process(latency=0.05, log=log) as url:
        summary = run(home, url, 16, environment)
        most = request_counts(url)["most_in_flight"]
    assert summary["runs"]["failed"] == [] and summary["runs"]["done"] == len(MEMORIES) + 3
    assert contents(home) == contents(serial[0])
    assert usage(summary) == usage(serial[1])
    assert max(count_answers(log).values()) == 1, "a request was sent twice"
    assert 4 < most <= 64, "one partition has four users: the limit holds over all partitions"


def test_interrupted_run_ends_within_seconds_and_continues_from_the_ledger(
    tmp_path: Path, environment, contents, serial
) -> None:
    home, log = tmp_path / "home", tmp_path / "answers.jsonl"
    with stub_process(latency=0.3, log=log) as url:
        process = subprocess.Popen(
            command(home, url, 8),
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not (log.exists() and log.read_text().count("\n") > 60):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, shown = process.communicate(timeout=30)
        assert time.monotonic() - began < 15
        assert process.returncode == 130 and "Rerun" in shown and "Traceback" not in shown
        with sqlite3.connect(home / "dagster" / "history" / "runs.db") as runs:
            states = {state for (state,) in runs.execute("select status from runs")}
        assert states <= {"SUCCESS", "FAILURE"}
        summary = run(home, url, 8, environment)
    assert summary["runs"]["failed"] == []
    assert contents(home) == contents(serial[0])
    sent = count_answers(log)
    # A request in flight at the interrupt may be sent again; a stored one may not.
    assert sum(sent.values()) - len(sent) <= 64
