"""Runs with a real model of 135 million parameters: its answers are bad, and everything about them has to hold."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small_model import Unavailable, small_model

from memflow.chat.scripted import LABEL

MEMORIES = ("full", "bm25_message", "awi", "mem0")
SETTINGS = """
home = "home"
embedder = {{ kind = "hashing" }}
[models.small]
url = "{url}"
model = "smollm2"
concurrency = 2
[roles]
assistant = "small"
simulator = "small"
[token_limits]
assistant = {{ output = 48 }}
memory = {{ output = 128 }}
simulator = {{ output = 200 }}
"""


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    """Return the address of the model. Skip the tests where its packages cannot be had."""
    try:
        with small_model() as url:
            yield url
    except Unavailable as error:
        pytest.skip(str(error))


def memflow(environment: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "memflow.cli", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def answers_of_model() -> list[dict[str, Any]]:
    with sqlite3.connect("home/ledger.sqlite") as ledger:
        ledger.row_factory = sqlite3.Row
        query = "SELECT DISTINCT completions.* FROM completions JOIN uses USING (digest) WHERE uses.model = 'small'"
        return [dict(row) for row in ledger.execute(query)]


@pytest.mark.real
def test_memories_of_a_small_real_model_are_played_answered_and_scored(
    model_url: str, own_environment: dict[str, str]
) -> None:
    Path("memflow.toml").write_text(SETTINGS.format(url=model_url), encoding="utf-8")
    chosen = [word for memory in MEMORIES for word in ("--memory", memory)]
    run = memflow(own_environment, "run", "--domain", "dialogues_smoke", *chosen, "--no-baselines")
    # 3: what the model made of the messages is faulty
    assert run.returncode in (0, 3), run.stdout + run.stderr
    assert LABEL not in run.stdout
    with duckdb.connect("home/memflow.duckdb", read_only=True) as warehouse:
        rows = warehouse.execute("SELECT DISTINCT assistant, scripted FROM score.leaderboard").fetchall()
        failed = warehouse.execute("SELECT count(*) FROM answer.replies WHERE reason IS NOT NULL").fetchall()
    assert sorted(rows) == [(memory, False) for memory in sorted(MEMORIES)]
    assert failed == [(0,)]

    sent = answers_of_model()
    assert 20 <= len(sent) <= 120 and sum(row["prompt_tokens"] for row in sent) <= 120_000
    windows = json.loads(Path("home/windows.json").read_text(encoding="utf-8"))
    [window] = windows.values()
    assert all(row["prompt_tokens"] + row["completion_tokens"] <= window for row in sent)
    limits = {(row["messages"], json.loads(row["parameters"])["max_tokens"]): row["end"] for row in sent}
    doubled = [key for key, end in limits.items() if end == "loop" and (key[0], 2 * key[1]) in limits]
    assert doubled == [], "a loop is not requested at twice its limit"


@pytest.mark.real
def test_small_real_model_simulates_a_user_or_is_refused_with_the_reason(
    model_url: str, own_environment: dict[str, str]
) -> None:
    Path("memflow.toml").write_text(SETTINGS.format(url=model_url), encoding="utf-8")
    run = memflow(own_environment, "run", "--domain", "amemgym_demo~1", "--memory", "none", "--no-baselines")
    said = run.stdout + run.stderr
    assert "Traceback" not in said
    assert len(answers_of_model()) >= 1
    assert "Cannot connect" not in said
    if run.returncode:
        assert "amemgym/" in said, "the reason names the prompt whose answers cannot be used"
