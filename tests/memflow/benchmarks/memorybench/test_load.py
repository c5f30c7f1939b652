import json
import re
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.load import build_pools
from memflow.benchmarks.registry import find_dataset
from tests.reader_faults import reported_faults

LOCOMO = "locomo/locomo10.json"


def small(**conversation: Any) -> dict[str, Any]:
    said = {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_1_date_time": "1:00 pm on 2 May, 2024",
        "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "I own a kite."}],
    }
    asked = [{"question": "What does Ann own?", "answer": "a kite", "evidence": ["D1:1"], "category": 4}]
    return {"sample_id": "t-1", "conversation": {**said, **conversation}, "qa": asked}


def without(key: str) -> dict[str, Any]:
    """Return the conversation without one of its fields."""
    talk = small()
    del talk["conversation"][key]
    return talk


TWICE = [{"speaker": "Ann", "dia_id": "D1:1", "text": "One."}] * 2
STRANGER = [{"speaker": "Cy", "dia_id": "D1:1", "text": "One."}]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({"some": "other file"}, "not a JSON list of LoCoMo"),
        (["text"], "conversation 0: the structure is not that of a LoCoMo conversation"),
        ([without("speaker_b")], "conversation 0: the conversation has no field 'speaker_b'"),
        ([without("session_1")], "at sessions"),
        ([small(session_1="text")], "at sessions.0.messages"),
        ([small(session_1=TWICE)], "two messages have the id D1:1"),
        ([small(session_1=STRANGER)], ", Cy, is not a speaker"),
    ],
)
def test_locomo_reader_reports_fault_in_file(read_files: Any, content: Any, complaint: str) -> None:
    data = content if isinstance(content, bytes) else json.dumps(content)
    faults = reported_faults(lambda: read_files("locomo", {LOCOMO: data}))
    assert re.search(complaint, faults) and LOCOMO in faults


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ({"question": "Who?", "category": 4}, "lacks answer"),
        ({"question": "Who?", "category": 4, "answer": None}, "lacks answer"),
        ({"question": "Q?", "category": 5, "answer": "x"}, "lacks adversarial_answer"),
        ({"question": "Who?", "category": 6, "answer": "x"}, "at category"),
        ("Who?", "at the top level"),
    ],
)
def test_invalid_question_is_quarantined_without_its_conversation(
    read_files: Any, question: Any, fault: str
) -> None:
    valid = {"question": "What?", "category": 4, "answer": "x"}
    content = json.dumps([{**small(), "qa": [valid, question, valid]}])
    (pool,) = build_pools(read_files("locomo", {LOCOMO: content}))
    assert [case.reason is None for case in pool.cases] == [True, False, True]
    assert (
        pool.cases[1].reason is not None
        and fault in pool.cases[1].reason
        and "question 1" in pool.cases[1].reason
    )
    assert pool.corpus


def test_bundled_sample_reader_rejects_invalid_case(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({"case_id": "c", "dataset": "sample_open"}), encoding="utf-8")
    files = {"cases.jsonl": path}
    faults = reported_faults(lambda: MemoryBench().records(find_dataset("memorybench_sample"), files))
    assert "line 1: at language" in faults
