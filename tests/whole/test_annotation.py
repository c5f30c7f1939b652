"""Annotation by two models through the whole graph: a budget stops it, and the next run continues it."""

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

from stub import request_digests, stub_process

from memflow.chat.budget import Budget
from memflow.chat.ledger import RequestContext
from memflow.operations.pipeline import run_pipeline
from memflow.operations.planned_runs import RunRequest
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings, load

DOMAIN = "comem_demo_annotated~3"
QUESTIONS = 6 + 5 + 6  # of the first three dialogues


class Counting:
    """A progress listener that records the progress of annotation."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int]] = []

    def begin(self, runs: int) -> None: ...
    def start_run(self, run: Any) -> None: ...
    def end_run(self, run: Any, result: str) -> None: ...

    def step(self, context: RequestContext, done: int, total: int) -> None:
        if context.stage == "question":
            self.steps.append((done, total))


def settings_of(home: Path, url: str) -> Settings:
    models = {
        name: {"kind": "endpoint", "url": url, "model": "stub", "revision": name} for name in ("one", "two")
    }
    roles = {"annotator": "one", "verifier": "two"}
    settings = load(over={"home": home, "models": models, "roles": roles})
    return settings.model_copy(update={"domains": (DOMAIN,), "assistants": ("none",)})


def test_next_run_continues_the_annotation_that_the_budget_stopped(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "asked.jsonl"
    order, watcher = RunRequest((DOMAIN,), ("none",)), Counting()
    with stub_process(latency=0.01, log=log) as url:
        settings = settings_of(home, url)
        stopped = run_pipeline(settings, order, watcher, Budget(calls=100))
        [(run, reason)] = [each for each in stopped.failed if each[0].job == "generate_domain"]
        assert "the budget of 100 calls is used up" in reason and run.partition == DOMAIN
        assert len(request_digests(log)) == 100 == in_ledger(home)
        assert watcher.steps[-1][1] == 4 * QUESTIONS
        outcome = run_pipeline(settings, order, watcher)
    # Answers drawn at random agree on no question at all four checkpoints: there is nothing to ask.
    assert {run.job: reason for run, reason in outcome.failed}["generate_domain"].endswith(
        "the table is empty"
    )
    assert max(Counter(request_digests(log)).values()) == 1 and len(request_digests(log)) == in_ledger(home)
    assert watcher.steps[-1] == (4 * QUESTIONS, 4 * QUESTIONS)
    roles = {row["role"]: row for row in outcome.usage if row["stage"] == "question"}
    assert sum(row["requests"] for row in roles.values()) == 8 * QUESTIONS - 100
    assert sum(row["cache_hits"] for row in roles.values()) == 100
    keys = Lake(home / "lake").read("question.keys", DOMAIN)
    assert all(key.dropped.startswith("annotator and verifier disagree at checkpoint") for key in keys)
    assert Counter(key.made_by for key in keys) == {"annotator": 4 * QUESTIONS, "verifier": 4 * QUESTIONS}


def in_ledger(home: Path) -> int:
    with sqlite3.connect(home / "ledger.sqlite") as connection:
        [(number,)] = connection.execute("select count(*) from completions")
    return int(number)
