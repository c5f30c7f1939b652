"""MemDaily: valid and invalid invented files, and the content of the published files."""

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from membench_files import read

from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.load import trajectory
from memflow.benchmarks.membench.probes import probe_rows
from memflow.benchmarks.membench.selection import select_trajectories
from memflow.benchmarks.membench.turns import turn_rows
from memflow.benchmarks.registry import find_domain
from memflow.checks.evaluation import check_rows
from memflow.checks.expectations import all_expectations
from memflow.records import Record
from memflow.resources.data.library import Library

DOMAIN = find_domain("membench_memdaily")
NAME = "memdaily/messages_and_QAs/01_simple_roles.json"
MESSAGE = {"mid": 0, "message": "我姑姑61岁。", "time": "2024年04月01日 周一 08:25", "place": "北京"}
QUESTION = {
    "qid": 0,
    "question": "我姑姑多大？",
    "answer": "61岁",
    "target_step_id": [0],
    "choices": {"A": "60岁", "B": "61岁", "C": "62岁", "D": "63岁"},
    "ground_truth": "B",
    "time": "2024年04月02日 周二 08:25",
}
DAILY = {"tid": 0, "message_list": [MESSAGE], "question_list": [QUESTION]}


def test_memdaily_message_ends_with_place_and_time(tmp_path: Path):
    (record,) = read("memdaily", {NAME: [DAILY]}, tmp_path)
    found = trajectory(record)
    assert record.record_id == "observation/simple/roles/0"
    assert found.steps[0].user == "我姑姑61岁。（地点：北京；时间：2024年04月01日 周一 08:25）"
    assert found.steps[0].sent_at == "2024年04月01日 周一 08:25"
    assert (found.language, found.scene) == ("zh", "observation")
    assert found.questions[0].evidence == ("observation/simple/roles/0/0.0u",)


# What is published: 13 of its 26 files, as they were counted by hand.

FILES = {
    "01_simple_events": (100, 700),
    "01_simple_items": (50, 200),
    "01_simple_roles": (100, 800),
    "02_conditional_hybrid": (200, 2295),
    "02_conditional_places": (50, 200),
    "03_comparative_events": (100, 400),
    "03_comparative_roles": (100, 400),
    "04_aggregative_hybrid": (300, 4504),
    "05_post_processing_events": (100, 700),
    "05_post_processing_items": (50, 200),
    "05_post_processing_roles": (100, 800),
    "06_noisy_hybrid": (200, 2575),
    "06_noisy_places": (50, 200),
}
"""Trajectories and messages."""
MARKED = {
    "comparative/events": (92, 93),
    "aggregative/hybrid": (
        *(30, 66, 82, 85, 122, 130, 140, 145, 148, 159, 161, 182, 194, 199, 201, 227, 243),
        *(276, 277, 278, 279, 280, 281, 283, 297),
    ),
}
TWICE = {"simple/events": (29,), "simple/roles": (18, 86)}


def named(of: dict[str, tuple[int, ...]]) -> set[str]:
    return {f"observation/{group}/{tid}/q0" for group, tids in of.items() for tid in tids}


@pytest.fixture(scope="module")
def published() -> list[Record]:
    folder = os.environ.get("MEMFLOW_DATA")
    if not folder or not Library(folder).found("memdaily"):
        pytest.skip("set MEMFLOW_DATA to a folder with memdaily/")
    library = Library(folder)
    return MemBench().records(library.dataset("memdaily"), library.paths("memdaily"))


def test_published_memdaily_files_give_published_trajectory_and_message_counts(published: list[Record]):
    found: dict[str, tuple[int, int]] = {}
    for record in published:
        name = Path(record.source).stem
        count, said = found.get(name, (0, 0))
        found[name] = (count + 1, said + len(trajectory(record).steps))
    assert {name: FILES[name] for name in found} == found
    assert len(found) >= 13


@pytest.fixture(scope="module")
def rows(published: list[Record]) -> dict[str, list[Any]]:
    each = select_trajectories(DOMAIN, published)
    return {
        "utterance.turns": [turn for one in each for turn in turn_rows(DOMAIN.name, one)],
        "question.probes": [probe for one in each for probe in probe_rows(DOMAIN.name, one)],
    }


def test_only_memdaily_questions_with_error_marks_or_same_options_are_quarantined(rows: dict[str, list[Any]]):
    probes, turns = rows["question.probes"], rows["utterance.turns"]
    reasons = {probe.probe_id: probe.reason for probe in probes if probe.reason is not None}
    assert set(reasons) == named(MARKED) | named(TWICE)
    assert len(probes) == 1500
    kinds = Counter(
        "twice" if "say the same" in reason else " ".join(re.findall(r"\[ERROR[QAC]\]", reason))
        for reason in reasons.values()
    )
    assert kinds == {"[ERRORQ] [ERRORA] [ERRORC]": 19, "[ERRORQ]": 8, "twice": 3}
    assert not [turn for turn in turns if turn.reason is not None]
    assert len(turns) == sum(said for _, said in FILES.values())


@pytest.mark.parametrize("table", ["utterance.turns", "question.probes"])
def test_memdaily_rows_pass_all_checks(rows: dict[str, list[Any]], table: str):
    expected = [each for each in all_expectations() if each.table == table]
    failed = {
        outcome.name: outcome.unexpected
        for outcome in check_rows(table, rows[table], expected, lambda name: rows.get(name, []), DOMAIN)
        if not outcome.passed
    }
    assert failed == {}
