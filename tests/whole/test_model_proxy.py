"""Runs with a memory server that uses memflow's models, and with memories that keep state outside their store."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub import stub_process
from stub.process import count_answers

from memflow.operations.planned_runs import Outcome
from memflow.records import Score
from memflow.resources.lake.lake import Lake

DOMAIN = "amemgym_demo~1"
SERVER = Path(__file__).parents[1] / "model_server.py"
COMMAND = [sys.executable, str(SERVER)]
RunPipeline = Callable[..., Outcome]

HOSTED = '''"""A memory that writes to and reads from a service outside its store."""
from dataclasses import dataclass
from memflow.memories.memory import Memory, Recall
SERVICE = {}


@dataclass
class Hosted(Memory):
    """The texts of all messages, in the service."""

    def space(self):
        return self.store.newest("space") or self.store.add("space", str(len(SERVICE)), sources=())

    async def write(self, messages):
        SERVICE.setdefault(self.space().text, []).extend(message.line() for message in messages)

    async def read(self, query, frozen=True):
        space = self.store.newest("space")
        return Recall(notes="\\n".join(SERVICE[space.text]) if space else "")


@dataclass
class Stored(Hosted):
    """The same texts, in the store."""

    async def write(self, messages):
        for message in messages:
            self.store.add("text", message.line(), sources=[message.message_id])

    async def read(self, query, frozen=True):
        return Recall(notes="\\n".join(item.text for item in self.store.live("text")))
'''


def test_memory_with_state_in_a_service_gets_no_scores_and_its_twin_in_the_store_does(
    run_in: RunPipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hosted_example.py").write_text(HOSTED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    memories = {name.lower(): {"path": f"hosted_example:{name}"} for name in ("Hosted", "Stored")}
    outcome = run_in(tmp_path / "home", (DOMAIN,), ("hosted", "stored", "none"), memories=memories)
    assert len(outcome.failed) == 1, outcome.failed
    [(run, reason)] = outcome.failed
    assert run.assistant == "hosted"
    for part in (
        "the memory hosted keeps state outside its EntryStore",
        "run a service as a memory server (docs/how-to/memory_server.md)",
    ):
        assert part in reason
    lake = Lake(tmp_path / "home/lake")
    assert {score.assistant for score in outcome.scores} == {"stored", "none"}
    assert {row.assistant for row in lake.read("score.leaderboard", "all")} == {"stored", "none"}
    assert f"{DOMAIN}/hosted" not in lake.partitions("memory.indexes")


def accuracies(scores: list[Score], assistant: str) -> dict[tuple[str, str], float | None]:
    """Return the values of an assistant's scores that do not measure time."""
    timed = ("_time", "_seconds", "_s")
    return {
        (score.metric, score.slice): score.value
        for score in scores
        if score.assistant == assistant and not score.metric.endswith(timed)
    }


def test_requests_of_a_server_replay_in_another_home(run_in: RunPipeline, tmp_path: Path) -> None:
    log, found = tmp_path / "log", []
    with stub_process(latency=0, log=str(log)) as url:
        more: dict[str, Any] = {
            "models": {"small": {"url": url, "model": "stub"}},
            "roles": {"assistant": "small"},
            "embedder": {"kind": "endpoint", "url": url, "model": "stub"},
            "ledger": f"sqlite:///{tmp_path}/ledger.sqlite",
            "memories": {
                "served": {"command": COMMAND, "unchecked": True},
                "own": {"command": [*COMMAND, "own"], "unchecked": True},
            },
        }
        for home in ("first", "second"):
            outcome = run_in(tmp_path / home, (DOMAIN,), ("served@small", "own@small"), **more)
            assert outcome.failed == []
            found.append((outcome, count_answers(log)))
    (first, requests), (second, after) = found
    assert requests == after
    assert max(requests.values()) == 1
    assert accuracies(first.scores, "served@small") == accuracies(second.scores, "served@small")
    [usage] = [row for row in first.usage if row["role"] == "memory"]
    assert usage["requests"] > 10
    models = {score.assistant: (score.memory_models, score.embedder) for score in first.scores}
    assert models["own@small"] == ("own models, not counted", None)
    assert models["served@small"] == (None, "stub")


@pytest.mark.kill
def test_killed_run_with_a_server_repeats_no_stored_request(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    environment = {**clean_environment, "PYTHONPATH": os.pathsep.join(sys.path)}

    def start(url: str) -> subprocess.Popen[bytes]:
        model = f'[models.small]\nurl = "{url}"\nmodel = "stub"\n'
        memory = f"[memories.served]\ncommand = {json.dumps(COMMAND)}\nunchecked = true\n"
        text = f"{model}{memory}[embedder]\nkind = 'hashing'\n"
        (tmp_path / "memflow.toml").write_text(text, encoding="utf-8")
        wanted = f"run --domain {DOMAIN} --assistant served@small --no-baselines"
        command = [sys.executable, "-m", "memflow.cli", "--home", str(home), *wanted.split()]
        return subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
        )

    with stub_process(latency=0.02, log=str(log)) as url:
        running = start(url)
        deadline = time.monotonic() + 120
        while not proxied(home) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        stored = proxied(home)
        assert stored
        before = log.stat().st_size
        assert start(url).wait(120) == 0
        lines = log.read_bytes()[before:].decode().splitlines()
    assert not stored & {json.loads(line)["key"] for line in lines}
    assert len(proxied(home)) > len(stored)


def proxied(home: Path) -> set[str]:
    """Return the digests of the proxied requests in the ledger of a home."""
    path = home / "ledger.sqlite"
    if not path.exists():
        return set()
    with sqlite3.connect(path) as connection:
        try:
            rows = connection.execute("select digest from completions where prompt = 'model_proxy/chat'")
            return {digest for (digest,) in rows}
        except sqlite3.OperationalError:
            return set()  # killed before its tables were made
