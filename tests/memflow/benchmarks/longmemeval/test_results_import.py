"""Import of recorded replies with labels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from longmemeval_rows import domain, instance, lines, results, rows

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.datasets import S
from memflow.benchmarks.longmemeval.recorded_answers import read_labels
from memflow.benchmarks.longmemeval.results_import import MISSING, import_results
from memflow.benchmarks.longmemeval.scoring import make_scores
from memflow.benchmarks.longmemeval.types import PUBLISHED_COUNTS, TYPES
from memflow.errors import BadInput
from memflow.records import Probe, Record

Read = Callable[[Any], list[Record]]


class Lake:
    """A reader of one table of probes."""

    def __init__(self, probes: list[Probe]) -> None:
        self.probes = probes

    def facts(self, table: str, partition: str) -> object | None:
        return self.probes or None

    def rows(self, table: str, partition: str) -> list[Any]:
        return self.probes


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log with labels of two questions, one of which is in no domain."""
    rows = [
        {"question_id": "a", "hypothesis": "It is.", "autoeval_label": {"model": "gpt-4o", "label": True}},
        {"question_id": "x", "hypothesis": "No.", "autoeval_label": {"model": "gpt-4o", "label": False}},
    ]
    path = tmp_path / "My run.eval-results-gpt-4o.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


async def test_labels_become_verdicts_and_missing_ones_a_reason(read: Read, log: Path) -> None:
    _, probes = await rows(domain(), read([instance("a"), instance("b")]))
    found = import_results(Lake(probes), domain(), log)  # type: ignore[arg-type]
    assert found.assistant == "imported_my_run@recorded"
    assert [(reply.text, reply.reason) for reply in found.replies] == [("It is.", None), (None, MISSING)]
    assert [(row.value, row.reason) for row in found.verdicts] == [(1.0, None), (None, MISSING)]
    assert found.settings == {"judges": {"gpt-4o": 2}} and "judged by gpt-4o" in found.source
    assert list(found.faults) == ["labels of 1 questions that are not in longmemeval_oracle"]


async def test_log_of_another_domain_and_domain_without_probes_are_rejected(read: Read, log: Path) -> None:
    _, probes = await rows(domain(), read([instance("b")]))
    with pytest.raises(BadInput, match="none of its 2 questions"):
        import_results(Lake(probes), domain(), log)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="the lake has no probes"):
        import_results(Lake([]), domain(), log)  # type: ignore[arg-type]


def published_probes(data: Path) -> list[Probe]:
    """Return the 500 published questions as probes."""
    return [
        Probe(
            domain="longmemeval_s",
            probe_id=row["question_id"],
            episode_id=row["question_id"],
            checkpoint=0,
            kind="open",
            dataset="longmemeval_s",
            category=row["question_type"],
            metric="accuracy",
            question=row["question"],
            options=[],
            variables=[],
            gold=str(row["answer"]),
            revealed="",
            evidence=[],
        )
        for row in lines(data / "questions_500.jsonl")
    ]


@pytest.mark.parametrize(
    ("file", "right", "judge"),
    [
        ("mem0_longmemeval_top50_results.labels.jsonl", 452, "gpt-5"),
        ("mem0_longmemeval_parasail_120b.labels.jsonl", 449, "gpt-5"),
        ("llama31_8b_oracle_con.eval-results-gpt-4o-mini.jsonl", 303, "gpt-4o-mini-2024-07-18"),
    ],
)
def test_published_log_has_its_published_averages(data: Path, file: str, right: int, judge: str) -> None:
    probes, of_s = published_probes(data), Domain("longmemeval_s", "longmemeval", (S.name,), "")
    imported = import_results(Lake(probes), of_s, data / file)  # type: ignore[arg-type]
    assert imported.settings == {"judges": {judge: 500}} and list(imported.faults) == []
    scores = {
        (score.metric, score.slice): score
        for score in make_scores(of_s, results(probes, imported.verdicts, of_s.name))
    }
    assert scores["accuracy", "all"].value == right / 500
    assert {kind: scores["accuracy", f"category {kind}"].n for kind in TYPES} == PUBLISHED_COUNTS
    assert scores["accuracy", "abstention"].n == 30
    if right == 303:
        assert scores["task_averaged_accuracy", "all"].value == pytest.approx(0.654, abs=5e-4)


def test_invalid_lines_are_reported_and_others_count(tmp_path: Path) -> None:
    good = {
        "question_id": "a",
        "autoeval_label": {"model": "m", "label": True},
    }
    rest = [{**good, "question_id": "b", "autoeval_label": {"label": "yes"}}, {**good}, {"question_id": "c"}]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join([*map(json.dumps, [good, *rest]), "{", ""]))
    replies, problems = read_labels(path)
    assert [(reply.question_id, reply.autoeval_label.label) for reply in replies] == [("a", True)]
    assert [problem.partition(":")[0] for problem in problems] == ["line 2", "line 3", "line 4", "line 5"]


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
