"""A partition with failed requests: the next run sends these again, and only these."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memflow.cli.planned_runs import Outcome
from resources.lake import Lake
from resources.stub import count_answers, stub_process

DOMAIN, ASSISTANT = "amemgym_demo~1", "rag_2_4_30"


@pytest.fixture
def run_with(run_in: Callable[..., Outcome], tmp_path: Path) -> Callable[..., tuple[Outcome, set[str]]]:
    """Return a function that runs one user against a stub, and returns the outcome and the answered requests."""

    def run(folder: str = "home", **behavior: Any) -> tuple[Outcome, set[str]]:
        log = tmp_path / "answers.jsonl"
        log.write_text("")
        with stub_process(log=log, seed=7, **behavior) as url:
            model = {"kind": "endpoint", "url": url, "model": "stub", "patience": 0.01}
            outcome = run_in(
                tmp_path / folder,
                (DOMAIN,),
                (ASSISTANT,),
                models={"m": model},
                roles={"assistant": "m"},
                embedder={"kind": "hashing"},
            )
        return outcome, set(count_answers(log))

    return run


@pytest.mark.pipeline
def test_rerun_sends_only_the_failed_requests_again(
    run_with: Callable[..., tuple[Outcome, set[str]]],
    contents: Callable[[Path], dict[str, str]],
    tmp_path: Path,
) -> None:
    undisturbed, needed = run_with("undisturbed")
    assert undisturbed.failed_requests == {} and undisturbed.failed == []

    disturbed, answered = run_with(fail=0.3)
    name = f"evaluate_memory {DOMAIN} · {ASSISTANT}"
    assert disturbed.failed == []
    assert set(disturbed.failed_requests) == {name}
    replies = Lake(tmp_path / "home" / "lake").read("answer.replies", f"{DOMAIN}/{ASSISTANT}")
    assert any(reply.reason for reply in replies)

    repaired, rest = run_with()
    assert [run.name for run in repaired.ran] == [name, "publish_leaderboard"]
    assert repaired.failed_requests == {}
    assert contents(tmp_path / "home") == contents(tmp_path / "undisturbed")
    assert disturbed.failed_requests[name] > 0
    assert rest == needed - answered

    again, none = run_with()
    assert (again.ran, none) == ([], set())
