"""Import of recorded replies with labels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from longmemeval_rows import domain, instance, lines, results, rows

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.results_import import import_results
from memflow.benchmarks.longmemeval.scoring import make_scores
from memflow.benchmarks.longmemeval.types import TYPES
from memflow.benchmarks.published_results import MISSING
from memflow.benchmarks.registry import find_dataset
from memflow.errors import BadInput
from memflow.published_runs.collection import read_run, run_files
from memflow.published_runs.forms import declared_runs
from memflow.records import Probe, Record

S = find_dataset("longmemeval_s")

Read = Callable[[Any], list[Record]]


class Lake:
    """A reader of one table of probes."""

    def __init__(self, probes: list[Probe]) -> None:
        self.probes = probes

    def facts(self, table: str, partition: str) -> object | None:
        return (self.probes or None) if table == "question.probes" else None

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
    assert found.assistant == "imported_My-run@unknown"
    assert [(reply.text, reply.reason) for reply in found.replies] == [("It is.", None), (None, MISSING)]
    assert [(row.value, row.reason) for row in found.verdicts] == [(1.0, None), (None, MISSING)]
    assert found.settings == {"form": "label_log", "contract": "official", "judges": {"gpt-4o": 1}}
    assert "judged by gpt-4o" in found.source
    assert list(found.faults) == ["1 answers to other questions than the 2 of the domain"]


async def test_log_of_another_domain_and_domain_without_probes_are_rejected(read: Read, log: Path) -> None:
    _, probes = await rows(domain(), read([instance("b")]))
    with pytest.raises(BadInput, match="no answer to a question of longmemeval_oracle"):
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
    assert imported.settings["judges"] == {judge: 500} and list(imported.faults) == []
    scores = {
        (score.metric, score.slice): score
        for score in make_scores(of_s, results(probes, imported.verdicts, of_s.name))
    }
    assert scores["accuracy", "all"].value == right / 500
    assert all(scores["accuracy", f"category {kind}"].n == S.counts[kind] for kind in TYPES)
    assert scores["accuracy", "abstention"].n == 30
    if right == 303:
        assert scores["task_averaged_accuracy", "all"].value == pytest.approx(0.654, abs=5e-4)


LONGMEMEVAL_RUNS = {
    run.form: run for run in declared_runs() if run.benchmark == "longmemeval" and run.selection == "whole"
}


@pytest.mark.parametrize("form", LONGMEMEVAL_RUNS)
def test_published_run_of_each_form_is_imported(data: Path, form: str) -> None:
    run, root = LONGMEMEVAL_RUNS[form], data.parent / "published_runs"
    if not root.is_dir():
        pytest.skip("needs published_runs in MEMFLOW_DATA")
    probes, of_s = published_probes(data), Domain("longmemeval_s", "longmemeval", (S.name,), "")
    imported = import_results(Lake(probes), of_s, run_files(root, run)[0])  # type: ignore[arg-type]
    labels = {row.probe_id: row.value for row in imported.verdicts}
    assert labels == {answer.question_id: answer.label for answer in read_run(root, run).answers}
    assert len(imported.replies) == 500
    assert not [fault for fault in imported.faults if " is not that " in fault]


async def test_invalid_lines_are_reported_and_others_count(read: Read, tmp_path: Path) -> None:
    good = {"question_id": "a", "autoeval_label": {"model": "m", "label": True}}
    rest = [{**good, "question_id": "b", "autoeval_label": {"label": 7}}, {**good}, {"question_id": "c"}]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join([*map(json.dumps, [good, *rest]), "{", ""]), encoding="utf-8-sig")
    _, probes = await rows(domain(), read([instance(name) for name in "abc"]))
    imported = import_results(Lake(probes), domain(), path)  # type: ignore[arg-type]
    assert [row.value for row in imported.verdicts] == [1.0, None, None]
    assert [fault.partition(":")[0] for fault in imported.faults[:2]] == [
        "log.jsonl, line 5",
        "log.jsonl, row 1",
    ]
    assert imported.faults[2:] == [
        "1 rows repeat a question; the first row with an answer is used. Ignored: log.jsonl, row 2",
        "1 rows have no answer, label or context, such as log.jsonl, row 3",
    ]


async def test_file_without_labels_is_rejected(read: Read, tmp_path: Path) -> None:
    _, probes = await rows(domain(), read([instance("a")]))
    path = tmp_path / "log.jsonl"
    path.write_text("{}\n")
    with pytest.raises(BadInput, match="none of the known forms"):
        import_results(Lake(probes), domain(), path)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="cannot read"):
        import_results(Lake(probes), domain(), tmp_path / "missing")  # type: ignore[arg-type]
