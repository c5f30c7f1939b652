"""A server that fails, stops and returns invalid JSON: the run ends, and lost rows have a reason and are counted."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub import request_counts, stub_process

from memflow.resources.lake.lake import Lake
from memflow.resources.settings.chat_models import command_line_name
from memflow.scoring.estimate import MIN_COVERAGE

DOMAIN = "amemgym_base"
MEMORIES = ("none", "oracle", "previous", "full", "rag_2_4_30")
ASSISTANTS = tuple(f"{memory}@{command_line_name('stub')}" for memory in MEMORIES)
USERS, PERIODS, QUESTIONS = 4, 4, 3
PROBES = 2 * USERS * PERIODS * QUESTIONS
"""A choice probe and its state probe for each user, period and question."""
COUNTED = ("have a value; a score needs", "not scored: the judge")
"""The reasons of a score with too small a coverage, and of one whose judge gave garbled verdicts on known answers."""
LACKING = ("evidence to follow", "does not rank", "has no writes")
"""What scores say of memories that recall nothing by a search, or hold nothing."""

CHAOS = {"fail": 0.1, "garble": 0.3, "die_after": 150, "down": 5.0, "seed": 3}


def run(home: Path, url: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    memories = [part for name in ("full", "rag_2_4_30") for part in ("--memory", name)]
    order = ["--domain", DOMAIN, *memories, "--url", url, "--model", "stub", "--embedder", "hashing"]
    order += ["--format", "json"]
    return subprocess.run(
        [sys.executable, "-m", "memflow.cli", "--home", str(home), "run", *order],
        env=environment,
        cwd=home.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


@pytest.mark.kill
def test_run_with_an_unreliable_server_finishes_with_reasons_for_failed_rows(
    tmp_path: Path, published_users: Callable[..., Path], own_environment: dict[str, str]
) -> None:
    data = published_users(tmp_path / "data", users=USERS, periods=PERIODS, questions=QUESTIONS)
    environment = {**own_environment, "MEMFLOW_DATA": str(data)}
    home = tmp_path / "home"
    with stub_process(**CHAOS) as url:
        ended = run(home, url, environment)
        met = request_counts(url)
        again = run(home, url, environment)
        assert request_counts(url)["answered"] == met["answered"], "a second run asked what had been answered"
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert again.returncode == 0, again.stdout + again.stderr
    said = json.loads(ended.stdout)
    assert said["runs"]["failed"] == []
    # It was as bad as it was meant to be.
    assert met["failed"] > 0.05 * met["asked"]
    assert met["garbled"] > 0

    lake = Lake(home / "lake")
    lost: Counter[str] = Counter()
    for assistant in ASSISTANTS:
        place = f"{DOMAIN}/{assistant}"
        replies, verdicts = lake.read("answer.replies", place), lake.read("score.verdicts", place)
        # Nothing is left out: a reply to every probe, two verdicts on every reply, five on those with options.
        assert len({reply.probe_id for reply in replies}) == len(replies) == PROBES
        assert len(verdicts) == 2 * PROBES // 2 + 5 * PROBES // 2
        for reply in replies:
            assert (reply.parsed is None) == (reply.reason is not None)
        unread = {reply.probe_id: reply.reason for reply in replies if reply.reason}
        for verdict in verdicts:
            assert (verdict.value is None) == (verdict.reason is not None)
            if verdict.metric in ("accuracy", "state_match"):
                assert (verdict.value is None) == (verdict.probe_id in unread)
                assert verdict.reason == unread.get(verdict.probe_id)
        said_rows = lake.read("memory.transcripts", place)
        assert all(bool(row.text) != bool(row.reason) for row in said_rows)
        for table, held in (
            ("memory.transcripts", said_rows),
            ("answer.replies", replies),
            ("score.verdicts", verdicts),
        ):
            lost[table] += sum(row.reason is not None for row in held)
    assert lost["answer.replies"] > 0, "nothing was lost, so this shows nothing: take another seed"
    check_coverage_of_scores(said["leaderboard"])


def check_coverage_of_scores(scores: list[dict[str, Any]]) -> None:
    """Check that scores with low coverage have a reason and no value, and that there are some."""
    seen: Counter[str] = Counter()
    for score in scores:
        where = (score["assistant"], score["metric"], score["variant"], score["slice"])
        if score["coverage"] < MIN_COVERAGE:
            assert score["value"] is None, where
            counted = any(words in score["reason"] for words in COUNTED)
            recalls = score["assistant"].startswith("rag")
            assert counted or (not recalls and any(words in score["reason"] for words in LACKING)), where
        elif score["value"] is None:
            assert score["reason"], where
        if score["coverage"] < 1:
            seen["incomplete"] += 1
        seen["shown" if score["value"] is not None else "hidden"] += 1
    assert seen["incomplete"] > 0
    assert seen["hidden"] > 0
