"""A recorded run with verdicts becomes replies, verdicts and scores; each damaged record costs itself alone."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.halumem import names
from memflow.benchmarks.halumem.aggregate import published_summary
from memflow.benchmarks.halumem.load import load_users, read_records
from memflow.benchmarks.halumem.probes import make_probes
from memflow.benchmarks.halumem.results_import import import_results
from memflow.benchmarks.halumem.scoring import published_records
from memflow.benchmarks.registry import find_dataset
from memflow.benchmarks.views import ImportedResults
from memflow.errors import BadInput
from memflow.records import Probe

MEDIUM = find_dataset("halumem_medium_users")

DOMAIN = Domain("halumem_medium", "halumem", (MEDIUM.name,), "Test")
POINT = {
    "memory_content": "Ida keeps bees.",
    "memory_type": "Event Memory",
    "memory_source": "secondary",
    "importance": 0.5,
}
USER = {
    "uuid": "u",
    "sessions": [
        {
            "dialogue": [{"role": "user", "content": "I keep bees."}],
            "memory_points": [POINT],
            "questions": [{"question": "What does Ida keep?", "answer": "bees", "evidence": [POINT]}],
        }
    ],
}


def reader(probes: list[Probe]) -> Any:
    return SimpleNamespace(facts=lambda table, name: True, rows=lambda table, name: probes)


def probes_of(files: dict[str, Path]) -> list[Probe]:
    users = load_users(DOMAIN, read_records(MEDIUM, files))
    return [probe for dataset, user in users for probe in make_probes(DOMAIN.name, dataset, user)]


def write_run(folder: Path, **verdicts: list[dict[str, Any]]) -> list[Probe]:
    """Write a user, its recorded run and verdicts. Return the user's probes."""
    data = folder / "user.json"
    data.write_text(json.dumps(USER), encoding="utf-8")
    run = folder / "run"
    run.mkdir()
    answer = {"question": "What does Ida keep?", "context": "Ida has hens.", "system_response": "hens"}
    session = {"extracted_memories": ["Ida keeps bees."], "qa": [answer]}
    (run / "run.json").write_text(
        json.dumps({"system": "X", "uuid": "u", "sessions": [session]}), encoding="utf-8"
    )
    key = {"uuid": "u", "ssession_id": 0}
    records = {
        "memory_integrity_records": [{**POINT, **key, "memory_integrity_score": "2"}],
        "question_answering_records": [
            {**key, "question": "What does Ida keep?", "result_type": "Hallucination"}
        ],
        "memory_accuracy_records": [
            {
                **key,
                "memory_content": "Ida keeps bees.",
                "memory_accuracy_score": 2,
                "is_included_in_golden_memories": True,
            }
        ],
    }
    (run / "verdicts.json").write_text(json.dumps({**records, **verdicts}), encoding="utf-8")
    return probes_of({"halumem/user.json": data})


def values(results: ImportedResults) -> dict[tuple[str, str], float | None]:
    return {(row.metric, row.variant): row.value for row in results.verdicts}


def test_recorded_verdicts_are_kept_and_the_lost_fact_is_attributed(tmp_path: Path) -> None:
    """A score that is a text counts; an inclusion that is a JSON boolean does not, as published."""
    results = import_results(reader(write_run(tmp_path)), DOMAIN, tmp_path / "run")
    found = values(results)
    assert results.assistant == "imported_X@unknown"
    assert found[names.RECALL, "standard"] == 1
    assert (found[names.ACCURACY, "text 1"], found[names.INCLUDED, "text 1"]) == (1, 0)
    assert [found[stage, "standard"] for stage in names.STAGES] == [0, 1, 0]  # written, and not recalled


@pytest.mark.parametrize("score", [None, 3, "two", True])
def test_verdict_out_of_form_costs_itself(tmp_path: Path, score: Any) -> None:
    damaged = {**POINT, "uuid": "u", "ssession_id": 0, "memory_integrity_score": score}
    nameless = {"memory_content": "x", "memory_integrity_score": 2}
    probes = write_run(tmp_path, memory_integrity_records=[damaged, nameless])
    results = import_results(reader(probes), DOMAIN, tmp_path / "run")
    assert values(results)[names.RECALL, "standard"] is None
    assert values(results)[names.ACCURACY, "text 1"] == 1
    assert "memory_integrity_records 1: no uuid" in results.faults[0]


def test_run_without_verdicts_is_refused(tmp_path: Path) -> None:
    probes = write_run(tmp_path)
    (tmp_path / "run" / "verdicts.json").unlink()
    with pytest.raises(BadInput, match="has no verdicts"):
        import_results(reader(probes), DOMAIN, tmp_path / "run")


def test_imported_run_has_the_published_summary(data: Path) -> None:
    """The records behind its scores give the summary of the published code on the recorded verdicts."""
    sessions = sorted(data.glob("medium_*_sessions.json"))
    probes = probes_of({f"halumem/{path.name}": path for path in sessions})
    results = import_results(reader(probes), DOMAIN, data)
    summary = published_summary(published_records(probes, results.verdicts))
    cases = json.loads((data / "oracle_aggregate.json").read_text(encoding="utf-8"))
    recorded = [case["expected"] for case in cases if case["name"].startswith("recorded_user1")]
    assert summary in recorded
