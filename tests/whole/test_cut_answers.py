"""A run whose answers the token limit cuts says so."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from stub import stub_process

from memflow.checks.evaluation import check_rows
from memflow.checks.expectations import expectations_of
from memflow.cli.summary import Summary
from memflow.operations.planned_runs import Outcome
from memflow.operations.selection import Selection
from memflow.resources.lake.lake import Lake
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.settings.settings import load

DOMAIN, ASSISTANT = "amemgym_demo~1", "full"
PARTITION = f"{DOMAIN}/{ASSISTANT}"
CHARACTERS = 5400
"""The mean length of an answer: 900 words."""


@pytest.fixture
def run_with(run_in: Callable[..., Outcome], tmp_path: Path) -> Callable[..., Outcome]:
    """Return a function that runs one user, whose assistant is a stub with the given behavior."""

    def run(**behavior: Any) -> Outcome:
        with stub_process(text_length=CHARACTERS, **behavior) as url:
            model = {"kind": "endpoint", "url": url, "model": "stub"}
            return run_in(
                tmp_path / "home",
                (DOMAIN,),
                (ASSISTANT,),
                models={"m": model},
                roles={"assistant": "m"},
            )

    return run


def replies_of(lake: Lake) -> list[Any]:
    return [row for row in lake.read("memory.transcripts", PARTITION) if row.origin == "assistant"]


@pytest.mark.pipeline
def test_run_reports_answers_cut_at_512_tokens(run_with: Callable[..., Outcome], tmp_path: Path) -> None:
    outcome = run_with(cut_at=512)
    home = tmp_path / "home"
    lake, settings = Lake(home / "lake"), load(over={"home": home})
    replies = replies_of(lake)
    assert replies and all(row.cut and 2000 < len(row.text) <= 4 * 512 for row in replies)

    failed = check_rows(
        "memory.transcripts", lake.read("memory.transcripts", PARTITION),
        expectations_of("memory.transcripts"), lambda table: [], settings.domain(DOMAIN),
    )  # fmt: skip
    assert [each.name for each in failed if not each.passed and each.severity == "warn"] == [
        "cut_texts_at_most_5_percent"
    ]

    (score,) = [score for score in outcome.scores if score.metric == "cut_replies"]
    answers = len(lake.read("answer.replies", PARTITION))
    assert score.value == pytest.approx(len(replies) / (len(replies) + answers))

    with SqlLedger(settings.ledger_url) as ledger:
        usage = {row.by["role"]: row for row in ledger.usage(("role",))}
    assert usage["assistant"].cut == 2 * len(replies), "each was requested again, with twice the limit"
    assert usage["simulator"].cut == 0

    selection = Selection(settings, (DOMAIN,), (ASSISTANT,))
    console = Console(file=io.StringIO(), width=200)
    for part in Summary.of(selection, outcome).shown():
        console.print(part)
    assert "of the role assistant were cut at the token limit" in console.file.getvalue()  # type: ignore[attr-defined]
