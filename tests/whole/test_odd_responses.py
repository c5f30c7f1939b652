"""A partition at a server with odd responses: no request fails the partition, and the next run repairs it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub import count_answers, stub_process

from memflow.operations.planned_runs import Outcome
from memflow.resources.lake.lake import Lake

DOMAIN, ASSISTANT = "amemgym_demo~1", "awi_2_4"


@pytest.fixture
def run_with(
    run_in: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Outcome, set[str]]]:
    """Return a function that runs one user against a stub, and returns the outcome and the answered requests."""
    monkeypatch.setenv("MEMFLOW_ASSISTANTS", f'["{ASSISTANT}"]')

    def run(folder: str = "home", **behavior: Any) -> tuple[Outcome, set[str]]:
        log = tmp_path / "answers.jsonl"
        log.write_text("", encoding="utf-8")
        with stub_process(log=log, seed=3, **behavior) as url:
            model = {
                "kind": "endpoint",
                "url": url,
                "model": "stub",
                "patience": 0.2,
                "longest_pause": 0.2,
                "timeout": 5.0,
                "response_bytes": 4_000_000,
            }
            outcome = run_in(
                tmp_path / folder,
                (DOMAIN,),
                (ASSISTANT,),
                models={"m": model},
                roles={"assistant": "m"},
            )
        return outcome, set(count_answers(log))

    return run


@pytest.mark.pipeline
def test_rerun_replaces_only_rows_with_reasons_after_odd_responses(
    run_with: Callable[..., tuple[Outcome, set[str]]],
    contents: Callable[[Path], dict[str, str]],
    tmp_path: Path,
) -> None:
    undisturbed, needed = run_with("undisturbed")
    assert undisturbed.failed == [] and undisturbed.failed_requests == {}

    disturbed, answered = run_with(odd=0.1)
    name = f"evaluate_memory {DOMAIN} · {ASSISTANT}"
    assert disturbed.failed == []
    assert disturbed.failed_requests[name] > 0
    replies = Lake(tmp_path / "home" / "lake").read("answer.replies", f"{DOMAIN}/{ASSISTANT}")
    assert any(reply.reason for reply in replies) and not all(reply.reason for reply in replies)

    repaired, rest = run_with()
    assert repaired.failed == [] and repaired.failed_requests == {}
    assert not rest & answered and rest | answered >= needed and len(rest) < len(needed)
    assert contents(tmp_path / "home") == contents(tmp_path / "undisturbed")
    again, none = run_with()
    assert (again.ran, none) == ([], set())
