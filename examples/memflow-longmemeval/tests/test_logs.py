"""Label logs of other code recompute to their published averages."""

import json
from pathlib import Path
from unittest.mock import Mock

import pytest
from longmemeval_rows import lines
from memflow_longmemeval.logs import average_labels, read_labels
from memflow_longmemeval.types import PUBLISHED_COUNTS, TYPES
from memflow_longmemeval.views import show_label_log

from memflow.benchmarks.views import Note, Table
from memflow.errors import BadInput


@pytest.fixture
def types(data: Path) -> dict[str, str]:
    return {row["question_id"]: row["question_type"] for row in lines(data / "questions_500.jsonl")}


@pytest.mark.parametrize(
    ("file", "right", "judge"),
    [
        ("mem0_longmemeval_top50_results.labels.jsonl", 452, "gpt-5"),
        ("mem0_longmemeval_parasail_120b.labels.jsonl", 449, "gpt-5"),
        ("llama31_8b_oracle_con.eval-results-gpt-4o-mini.jsonl", 303, "gpt-4o-mini-2024-07-18"),
    ],
)
def test_published_log_recomputes_to_its_overall_accuracy(
    data: Path, types: dict[str, str], file: str, right: int, judge: str
) -> None:
    found = average_labels(*read_labels(data / file, types))
    assert found.values["overall"] == right / 500
    assert found.judges == {judge: 500}
    assert {name: found.counts[name] for name in PUBLISHED_COUNTS} == PUBLISHED_COUNTS
    assert found.counts["abstention"] == 30 and not found.problems


def test_task_average_differs_from_the_overall_accuracy_of_a_published_log(
    data: Path, types: dict[str, str]
) -> None:
    path = data / "llama31_8b_oracle_con.eval-results-gpt-4o-mini.jsonl"
    found = average_labels(*read_labels(path, types))
    assert found.values["overall"] == 0.606
    assert found.values["task-averaged"] == pytest.approx(0.654, abs=5e-4)


def test_invalid_lines_are_reported_and_others_count(tmp_path: Path) -> None:
    good = {
        "question_id": "a",
        "question_type": "multi-session",
        "autoeval_label": {"model": "m", "label": True},
    }
    rest = [{**good, "question_id": "b", "autoeval_label": {"label": "yes"}}, {**good}, {"question_id": "c"}]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join([*map(json.dumps, [good, *rest]), "{", ""]))
    found = average_labels(*read_labels(path))
    assert found.counts["overall"] == 1 and found.values["overall"] == 1.0
    assert found.values["task-averaged"] is None
    assert [each.partition(":")[0] for each in found.problems] == ["line 2", "line 3", "line 4", "line 5"]


def test_file_without_labels_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("{}\n")
    with pytest.raises(BadInput, match="no line is a label"):
        read_labels(path)
    with pytest.raises(BadInput, match="cannot be read"):
        read_labels(tmp_path / "missing")


def test_byte_order_mark_of_a_log_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"question_id": "a", "autoeval_label": {"label": true}}', encoding="utf-8-sig")
    replies, problems = read_labels(path)
    assert len(replies) == 1 and not problems


def test_questions_of_unknown_types_are_counted_and_said(tmp_path: Path) -> None:
    lines = [
        {"question_id": name, "question_type": kind, "autoeval_label": {"model": "m", "label": True}}
        for name, kind in (("a", "multi-session"), ("b", None), ("c", "a new type"))
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert average_labels(*read_labels(path)).unknown_types == 2
    reader = Mock(partitions=lambda table: [], domains=lambda names: [])
    answer = show_label_log(reader, str(path))
    table = next(part for part in answer.parts if isinstance(part, Table))
    assert [row[:2] for row in table.rows if row[0] in TYPES] == [("multi-session", 1)]
    assert any(
        isinstance(part, Note) and "type of 2 of 3 questions is unknown" in part.text for part in answer.parts
    )
    assert answer.data["unknown_types"] == 2
