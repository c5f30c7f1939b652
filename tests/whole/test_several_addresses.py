"""`memflow run` with several servers of one model: the tables of one server, usage by address, and a lost server."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub import count_answers, stub_process

pytestmark = pytest.mark.pipeline

LATENCY = 0.02
WHAT = ("--domain", "amemgym_base", "--memory", "full", "--no-bounds")


@pytest.fixture(scope="module")
def environment(
    tmp_path_factory: pytest.TempPathFactory,
    published_users: Callable[..., Path],
    own_environment: dict[str, str],
) -> dict[str, str]:
    data = published_users(tmp_path_factory.mktemp("data"), users=5, periods=2, questions=2)
    return {**own_environment, "MEMFLOW_DATA": str(data)}


def memflow(home: Path, environment: dict[str, str], *arguments: str) -> Any:
    """Run a command of memflow in a home. Return its answer as data."""
    ended = subprocess.run(
        [sys.executable, "-m", "memflow.cli", "--home", str(home), *arguments, "--format", "json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout)


def run(home: Path, environment: dict[str, str], urls: list[str], *more: str) -> Any:
    addresses = [word for url in urls for word in ("--url", url)]
    options = ("--model", "stub", "--embedder", "hashing")
    return memflow(home, environment, "run", *WHAT, *addresses, *options, *more)


def test_runs_on_two_servers_write_equal_tables_with_a_lost_server_and_with_processes(
    tmp_path: Path, environment: dict[str, str], contents: Callable[[Path], dict[str, str]]
) -> None:
    logs = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    with (
        stub_process(latency=LATENCY, log=logs[0], die_after=8, down=20.0) as one,
        stub_process(latency=LATENCY, log=logs[1]) as two,
    ):
        summary = run(tmp_path / "lost", environment, [one, two])
    usage = memflow(tmp_path / "lost", environment, "show", "usage")
    answered = sum((count_answers(log) for log in logs), Counter[str]())
    assert set(answered.values()) == {1}
    assert summary["runs"]["failed"] == [] and summary["failed_requests"] == {}
    assert len(answered) == usage["total"]["calls"]
    assert 0 < usage["total"]["cached_prompt_tokens"] < usage["total"]["prompt_tokens"]

    with stub_process(latency=LATENCY) as one, stub_process(latency=LATENCY) as two:
        summary = run(tmp_path / "processes", environment, [one, two], "--processes", "2")
    assert contents(tmp_path / "lost") == contents(tmp_path / "processes")
