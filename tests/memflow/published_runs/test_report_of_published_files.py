"""The analysis of the published files themselves, where MEMFLOW_DATA has them and LoCoMo's file."""

import os
from functools import cache
from pathlib import Path

import pytest

from memflow.cli.published_runs import _messages
from memflow.published_runs.collection import read_folder
from memflow.published_runs.report import RunsReport
from memflow.published_runs.run_comparisons import RunDifference
from memflow.resources.settings.settings import Settings

DATA = Path(os.environ.get("MEMFLOW_DATA", "missing"))
FOLDER = DATA / "published_runs"
pytestmark = pytest.mark.skipif(
    not (FOLDER.is_dir() and (DATA / "locomo" / "locomo10.json").is_file()),
    reason="needs published_runs and locomo in MEMFLOW_DATA",
)


@cache
def report() -> RunsReport:
    runs, unreadable = read_folder(FOLDER)
    messages = _messages(Settings(data=DATA), "locomo")
    assert messages is not None
    return RunsReport.of_runs(runs, {"locomo": messages}, unreadable)


def difference(a: str, b: str, metric: str = "accuracy") -> RunDifference:
    rows = [row for family in report().families for row in family]
    return next(row for row in rows if (row.a.name, row.b.name, row.metric.name) == (a, b, metric))


def test_claims_that_differ_are_those_of_the_sources() -> None:
    differing = {(check.run.name, check.is_outside) for check in report().claims if check.is_equal is False}
    assert {
        ("mem0_platform-locomo-top200", False),
        ("mem0_platform-locomo-top50", True),
        ("mem0_platform-longmemeval-top50", True),
        ("samem-locomo-baseline", False),
    } <= differing
    assert len(differing) <= 6


def test_paired_differences_are_on_the_common_questions() -> None:
    assert difference("cogmem-locomo-v04", "cogmem-locomo-v05").difference.difference == pytest.approx(
        -42 / 1_540
    )
    assert difference("cogmem-longmemeval", "naiverag-longmemeval").difference.difference == pytest.approx(
        14 / 500
    )
    rows = [row for family in report().families for row in family if row.a.system.startswith("SA-Mem")]
    assert all(row.difference.n in (1_517, 1_514) for row in rows)


def test_labels_without_wrong_keys_leave_1441_questions_of_every_whole_run() -> None:
    runs = [row for row in report().runs if row.run.benchmark == "locomo" and len(row.answers) == 1_540]
    assert len(runs) > 10
    assert {len(run.valid_questions or ()) for run in runs} == {1_441}


def test_rules_for_words_agree_with_known_ids() -> None:
    part = next(part for part in report().attributions if part.run.name == "samem-locomo-baseline")
    there, strict, lenient, missing, strict_missing, lenient_missing = part.agreement
    assert strict <= lenient and strict / there > 0.98
    assert strict_missing / missing < 0.2 and lenient_missing / missing < 0.35
