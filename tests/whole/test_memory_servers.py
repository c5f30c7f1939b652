"""Runs with memory servers: in Python and in JavaScript, and with servers that are killed, hang or break rules."""

import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from echo import FAULTS
from echo_servers import ECHO, echo_command, http_echo

from memflow.operations.planned_runs import Outcome
from memflow.resources.lake.lake import Lake

ROOT = Path(__file__).parents[2]
DEMOS = ("amemgym_demo~1", "comem_demo~1", "membench_demo~1", "memorybench_demo~1")
USERS, USER = "amemgym_demo~2", "amemgym_demo~1"
NODE = ["node", str(ROOT / "examples/memory_server_node/server.mjs")]
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
RunPipeline = Callable[..., Outcome]

WRITES_FAIL = {"stray", "error"}
"""Faults with which no write succeeds."""
READS_FAIL = {"huge", "no_sources", "read_writes", "too_many", "wrong_n"}
"""Faults with which no read succeeds, since an answer breaks the protocol or a declaration."""
HARMLESS = {"crash_on", "no_fork", "no_restore", "order", "shared_fork", "slow"}
"""Faults that change no answer here."""
VALUES = {"slow": "0.001", "crash": "20", "crash_on": "no-such-word"}
"""Values of faults."""
KILLED = """
import os, pathlib, runpy, sys
with open("starts.txt", "a") as file:
    file.write(f"{os.getpid()}\\n")
sys.argv = ["echo.py", "--fault", "slow=0.005"]
runpy.run_path(ECHO, run_name="__main__")
"""
"""The echo server, which records the id of its process."""


@dataclass(frozen=True)
class Result:
    """The outcome of a run, and its lake."""

    outcome: Outcome
    lake: Lake

    def rows(self, table: str, assistant: str, domain: str = USERS) -> list[Any]:
        """Return the rows of an assistant."""
        return self.lake.read(table, f"{domain}/{assistant}")

    def replies(self, assistant: str, domain: str = USERS) -> dict[str, Any]:
        """Return what each probe was answered, by its id."""
        return {row.probe_id: row.text for row in self.rows("answer.replies", assistant, domain)}

    def failures(self, assistant: str, domain: str = USERS) -> list[Any]:
        """Return the entries of failed writes."""
        return [row for row in self.rows("memory.indexes", assistant, domain) if row.kind == "failure"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the home that the runs of this module share, so that domains are generated once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def run(run_in: RunPipeline, home: Path) -> Callable[..., Result]:
    """Return a function that runs memory servers, given by command or declaration, in domains."""

    def work(servers: dict[str, Any], *domains: str, names: tuple[str, ...] = ()) -> Result:
        memories = {
            # Unchecked, since a check refuses most of these servers.
            name: {"unchecked": True, **(given if isinstance(given, dict) else {"command": given})}
            for name, given in servers.items()
        }
        outcome = run_in(home, domains or (USERS,), (*memories, *names), memories=memories)
        return Result(outcome, Lake(str(home / "lake")))

    return work


def failed(result: Result) -> list[str]:
    """Return the reasons of failed runs."""
    return [reason for _, reason in result.outcome.failed]


@pytest.mark.pipeline
@needs_node
def test_servers_in_python_and_javascript_run_in_all_benchmarks(run: Callable[..., Result]) -> None:
    result = run({"python_echo": echo_command(), "node_words": NODE}, *DEMOS)
    assert failed(result) == []
    for domain in DEMOS:
        replies = result.replies("python_echo", domain)
        assert replies == result.replies("node_words", domain)
        assert replies
        assert None not in replies.values()
    assert run({"python_echo": echo_command(), "node_words": NODE}, *DEMOS).outcome.ran == []


@pytest.mark.pipeline
def test_run_with_each_fault_is_complete_and_failed_items_have_reasons(run: Callable[..., Result]) -> None:
    """`hang` is tested below, since each time limit takes its time; `no_time_travel`, since late reads show it."""
    faults = sorted(set(FAULTS) - {"hang", "hang_on", "no_time_travel"})
    servers = {f"with_{fault}": echo_command(f"{fault}={VALUES.get(fault, 1)}") for fault in faults}
    result = run({"echo": echo_command(), **servers}, USER)
    # Where no read succeeds, nothing is measured, so that the run fails.
    assert {run.assistant for run, _ in result.outcome.failed} == {f"with_{fault}" for fault in READS_FAIL}
    assert all("at_least_1_reply_without_failure" in reason for reason in failed(result))
    good = result.replies("echo", USER)
    for fault in faults:
        rows = result.rows("answer.replies", f"with_{fault}", USER)
        reasons = {row.probe_id for row in rows if row.reason is not None}
        assert {row.probe_id for row in rows} == good.keys(), fault
        assert reasons == (good.keys() if fault in READS_FAIL else set()), fault
        if fault in WRITES_FAIL:
            assert result.failures(f"with_{fault}", USER), fault
        if fault in HARMLESS:
            assert result.replies(f"with_{fault}", USER) == good, fault


@pytest.mark.parametrize(
    ("fault", "reason"), [("crash_on", "ended with status 3"), ("hang_on", "within its time limit")]
)
def test_message_that_stops_the_server_fails_alone(
    run: Callable[..., Result], fault: str, reason: str
) -> None:
    result = run({"echo": echo_command()})
    turns = result.lake.read("utterance.turns", USERS)
    [first, second] = sorted({turn.episode_id for turn in turns})
    texts = {
        episode: " ".join(turn.text for turn in turns if turn.episode_id == episode)
        for episode in (first, second)
    }
    word = next(word for word in re.findall(r"[a-z]{6,}", texts[second]) if word not in texts[first])
    server = {"command": echo_command(f"{fault}={word}"), "timeout": {"hello": 30, "read": 20, "write": 1}}
    result = run({"echo": echo_command(), f"{fault}_word": server})
    assert failed(result) == []
    lost = result.failures(f"{fault}_word")
    assert {row.episode_id for row in lost} == {second}
    assert all(reason in row.text and row.sources for row in lost)
    rows = {row.probe_id: row for row in result.rows("answer.replies", f"{fault}_word")}
    good = {
        row.probe_id: row.text for row in result.rows("answer.replies", "echo") if row.episode_id == first
    }
    assert {probe: rows[probe].text for probe in good} == good
    assert all(row.reason is None for row in rows.values())


@pytest.mark.kill
def test_server_that_is_killed_during_the_run_leaves_the_same_replies(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "killed.py").write_text(f"ECHO = {ECHO!r}\n{KILLED}", encoding="utf-8")
    starts = tmp_path / "starts.txt"
    killed: list[int] = []

    def kill() -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until and not (starts.exists() and starts.read_text().strip()):
            time.sleep(0.005)
        time.sleep(0.1)
        killed.append(int(starts.read_text().split()[0]))
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    server = {"command": [sys.executable, "killed.py"], "folder": str(tmp_path)}
    result = run({"echo": echo_command(), "killed": server})
    thread.join(20)
    assert failed(result) == []
    assert len(starts.read_text().split()) == 2
    assert result.replies("killed") == result.replies("echo")
    assert result.failures("killed") == []


def test_server_over_http_gives_the_same_replies(run: Callable[..., Result]) -> None:
    with http_echo() as (url, _):
        result = run({"echo": echo_command(), "over_http": {"url": url}})
    assert failed(result) == []
    assert result.replies("over_http") == result.replies("echo")


def test_bad_command_fails_its_partition_and_no_other(run: Callable[..., Result]) -> None:
    result = run({"echo": echo_command(), "bad": ["python3", "no/server.py"]})
    [reason] = failed(result)
    assert re.search(r"cannot find the file .*no/server.py. Fix `command` of \[memories.bad\].", reason)
    assert result.replies("echo")
