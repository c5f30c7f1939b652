"""Import of published answers: forms of files, damaged files, and contradictions to the domain's probes."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.locomo.results_import import NOT_JUDGED, import_results
from memflow.benchmarks.published_results import MISSING, NO_STORE, NOT_ANSWERED
from memflow.benchmarks.views import ImportedResults
from memflow.errors import BadInput
from memflow.published_runs.rows import NO_LABEL
from memflow.records import Probe
from memflow.scoring.catalog import find_metric

Rows = dict[str, list[dict[str, Any]]]


def mem0_2025(probes: list[Probe], right: Callable[[Probe], bool] = lambda probe: True) -> Rows:
    """Return results in the form of Mem0's evaluation of 2025, with conversations in the order of completion."""
    found: Rows = {}
    for probe in sorted(probes, key=lambda probe: -int(probe.episode_id[-1])):
        row = {
            "question": f"{probe.question} ",
            "answer": probe.gold,
            "response": probe.gold if right(probe) else "no",
            "category": probe.category,
            "llm_score": int(right(probe)),
        }
        found.setdefault(str(int(probe.episode_id[-1]) - 1), []).append(row)
    return found


def zep(probes: list[Probe]) -> Rows:
    return {
        f"locomo_experiment_user_{talk}": [
            {
                "question": row["question"],
                "answer": row["response"],
                "golden_answer": int(row["answer"]) if row["answer"].isdigit() else row["answer"],
                "grade": bool(row["llm_score"]),
                "category": int(row["category"]),
            }
            for row in rows
        ]
        for talk, rows in mem0_2025(probes).items()
    }


def mem0_2026(probes: list[Probe]) -> dict[str, Any]:
    evaluations = [
        {
            "question_id": f"conv{talk}_q{number}",
            "question": row["question"],
            "ground_truth_answer": row["answer"],
            "category": int(row["category"]),
            "cutoff_results": {
                "top_20": {"judgment": "WRONG", "generated_answer": "no"},
                "top_200": {"judgment": "CORRECT", "generated_answer": row["response"]},
            },
        }
        for talk, rows in mem0_2025(probes).items()
        for number, row in enumerate(rows)
    ]
    settings = {"answerer_model": "big model", "judge_model": "judge", "api_key": "secret"}
    return {"metadata": settings, "evaluations": evaluations[::-1]}


@pytest.fixture
def imported(sample, reader, tmp_path: Path) -> Callable[..., ImportedResults]:
    """Return a function that writes a results file and imports it into the sample's domain."""

    def run(content: Any, name: str = "my results.labels.json", **parameters: Any) -> ImportedResults:
        built = sample(**parameters)
        path = tmp_path / name
        path.write_text(json.dumps(content) if not isinstance(content, str) else content, encoding="utf-8")
        return import_results(reader(built.probes), built.domain, path)

    return run


def values(results: ImportedResults, metric: str, variant: str = "standard") -> dict[str, float | None]:
    return {
        row.probe_id: row.value for row in results.verdicts if (row.metric, row.variant) == (metric, variant)
    }


@pytest.mark.parametrize(
    ("form", "contract", "assistant"),
    [
        (mem0_2025, "j_2025", "imported_my-results@unknown"),
        (zep, "j_2025", "imported_my-results@unknown"),
        (mem0_2026, "j_2026", "imported_my-results@big-model"),
    ],
)
def test_answers_and_labels_of_each_form_are_imported(
    sample, imported, form, contract: str, assistant: str
) -> None:
    probes = sample().probes
    results = imported(form(probes))
    assert results.assistant == assistant and contract in results.source
    assert [reply.reason for reply in results.replies] == [None] * len(probes)
    assert [reply.parsed for reply in results.replies] == [probe.gold for probe in probes]
    assert values(results, contract) == {probe.probe_id: 1.0 for probe in probes}
    assert set(values(results, "set_f1").values()) == {1.0}
    other = {"j_2025", "j_2026"} - {contract}
    assert not values(results, other.pop()), "a contract under which nothing was judged has no verdicts"
    assert "secret" not in json.dumps(dict(results.settings))
    expected = ["the results of top_20 are not read, only those of top_200"] if form is mem0_2026 else []
    assert list(results.faults) == expected


def test_folder_has_one_run_in_one_or_several_files_or_a_pattern_names_one(
    sample, reader, tmp_path: Path
) -> None:
    built = sample()
    content = mem0_2025(built.probes)
    folder = tmp_path / "run"
    folder.mkdir()
    for number, rows in content.items():
        (folder / f"v1.conv{number}.json.gz").write_bytes(gzip.compress(json.dumps({number: rows}).encode()))
    (folder / "summary.json").write_text('{"accuracy": 1}', encoding="utf-8")
    (folder / "notes.json").write_text("{", encoding="utf-8")
    results = import_results(reader(built.probes), built.domain, folder)
    assert results.assistant == "imported_run@unknown" and set(values(results, "j_2025").values()) == {1.0}
    assert len(results.faults) == 1 and "notes.json" in results.faults[0]
    (folder / "v2.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BadInput, match=r"several runs: v1\.conv0\.json and v2\.json both answer sample-1/q0"):
        import_results(reader(built.probes), built.domain, folder)
    results = import_results(reader(built.probes), built.domain, folder / "v1*")
    assert results.assistant == "imported_v1@unknown" and set(values(results, "j_2025").values()) == {1.0}


def test_labels_of_another_contract_are_a_metric_of_their_own(sample, imported) -> None:
    probes = sample().probes
    rows = [
        {
            "conversation_id": probe.episode_id,
            "question": probe.question,
            "category": int(probe.category),
            "expected_answer": probe.gold,
            "ai_response": "no",
            "evaluation": {"is_correct": probe is probes[0]},
        }
        for probe in probes
    ]
    results = imported({"responses": rows})
    labels = values(results, "j_recorded[backboard_gpt_4_1]")
    assert len(labels) == len(probes) and sum(labels.values()) == 1.0
    assert find_metric("j_recorded[backboard_gpt_4_1]").name == "j_recorded"
    assert not values(results, "j_2025") and results.attributions == ()


def test_retrieved_ids_become_recall_and_evidence_recall_without_answers(sample, imported) -> None:
    probe = next(probe for probe in sample().probes if len(probe.evidence) > 1)
    first, *_ = [name.partition("/")[2] for name in probe.evidence]
    row = {
        "sample_id": probe.episode_id,
        "question_id": f"{probe.episode_id}:{probe.probe_id.rpartition('/q')[2]}",
        "question": probe.question,
        "category": {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop"}[
            probe.category
        ],
        "retrieved_turn_ids": ["D99:1", first],
        "retrieved_session_ids": ["99", first[1:].partition(":")[0]],
        "search_s": 0.5,
    }
    results = imported([row])
    reply = next(reply for reply in results.replies if reply.probe_id == probe.probe_id)
    assert (reply.reason, reply.recalled, reply.own_s) == (NOT_ANSWERED, ["D99:1", first], 0.5)
    assert reply.recalled_sources == [f"{probe.episode_id}/D99:1", probe.evidence[0]]
    (counted,) = [part for part in results.attributions if part.recalled is not None]
    assert (counted.recalled, counted.evidence, counted.entries) == (1, len(probe.evidence), 2)
    assert (counted.relevant, counted.loss, counted.reason) == (1, None, NO_STORE)
    sessions = imported([{key: value for key, value in row.items() if key != "retrieved_turn_ids"}])
    reply = next(reply for reply in sessions.replies if reply.probe_id == probe.probe_id)
    assert reply.recalled[0] == "session 99" and probe.evidence[0] in reply.recalled_sources


@pytest.mark.parametrize(("form", "metric"), [(mem0_2025, "j_2025"), (mem0_2026, "j_2026")])
def test_nth_answer_to_a_repeated_question_belongs_to_its_nth_probe(
    sample, tmp_path: Path, reader, form, metric: str
) -> None:
    """The answers of 2026 are in reverse order in the file: their question numbers count."""

    def repeat(talks: list[Any]) -> None:
        talks[0]["qa"][3] = dict(talks[0]["qa"][0])

    built = sample(repeat, tmp_path)
    if form is mem0_2025:
        content = form(built.probes, lambda probe: probe.probe_id != "sample-1/q3")
    else:
        content = form(built.probes)
        numbered = {row["question_id"]: row["cutoff_results"]["top_200"] for row in content["evaluations"]}
        numbered["conv0_q3"]["judgment"] = "WRONG"
    path = tmp_path / "repeated.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    labels = values(import_results(reader(built.probes), built.domain, path), metric)
    assert (labels["sample-1/q0"], labels["sample-1/q3"]) == (1.0, 0.0)


@pytest.mark.parametrize(("form", "label"), [(mem0_2025, "llm_score"), (zep, "grade")])
def test_answers_that_were_not_judged_have_no_label_in_any_variant(
    sample, imported, form, label: str
) -> None:
    content = form(sample().probes)
    for row in (row for rows in content.values() for row in rows):
        del row[label]
    results = imported(content)
    labels = [row for row in results.verdicts if row.metric == "j_2025"]
    assert len(labels) == 30 and {(row.value, row.reason) for row in labels} == {(None, NOT_JUDGED)}
    assert set(values(results, "set_f1").values()) == {1.0}


def test_contradictions_and_missing_answers_are_replies_with_reasons(sample, imported) -> None:
    content = mem0_2025(sample().probes)
    rows = content["0"]  # of sample-1
    rows[0]["answer"] = "Rex"
    rows[1]["category"] = "4"
    rows[2]["llm_score"] = None
    rows[4]["answer"] = "Yes"  # the gold up to the semicolon
    rows[5]["f1_score"] = 0.25
    del rows[6]["response"]
    rows[7] = None
    rows[3]["question"] = "Who is this?"
    content["7"], content["x"] = [dict(rows[2])], [dict(rows[2])]
    results = imported(content)
    reasons = {reply.probe_id: reply.reason for reply in results.replies if reply.reason}
    assert reasons == {
        "sample-1/q0": "the gold answer of the recorded question is not that of the probe",
        "sample-1/q1": MISSING,
        "sample-1/q3": MISSING,
        "sample-1/q7": MISSING,
    }
    labels = values(results, "j_2025")
    assert {name for name, value in labels.items() if value is None} == {*reasons, "sample-1/q2"}
    assert labels["sample-1/q6"] == 1.0, "a label without its answer is a label"
    assert values(results, "set_f1")["sample-1/q6"] is None
    unlabeled = next(
        row for row in results.verdicts if (row.probe_id, row.metric) == ("sample-1/q2", "j_2025")
    )
    assert unlabeled.reason == NO_LABEL
    as_wrong = values(results, "j_2025", "unlabeled_as_wrong")
    assert as_wrong["sample-1/q2"] == 0.0 and as_wrong["sample-1/q0"] is None
    faults = "\n".join(results.faults)
    for fault in (
        "row 0 1: category 4 is not that of sample-1/q1",
        "row 0 3: the question is not that of sample-1/q3",
        "row 0 5: the recorded F1 is not that of the answer",
        "row 0 7: not an object",
        "row 7 0: the conversation '7' is unknown",
        "row x 0: the conversation 'x' is unknown",
    ):
        assert fault in faults
    assert len(results.faults) == 6


DAMAGED: dict[str, tuple[Any, str]] = {
    "truncated": ('{"1": [{"question": "W', "cannot read .* as JSON"),
    "a list": ([], "none of the known forms"),
    "no evaluations": ({"evaluations": []}, "results.labels.json is an object with the keys 'evaluations'"),
    "answers of wrong types": ({"0": [{"response": {}, "answer": 3}]}, "rows have no answer, label or context"),
    "label out of range": (
        {"0": [{"question": "q", "answer": "a", "response": "r", "category": "4", "llm_score": 7}]},
        "row 0 0: the label 7 is not between 0 and 1",
    ),
    "questions of another benchmark": (
        {"0": [{"question": "q", "answer": "a", "response": "r", "category": "4", "llm_score": 1}]},
        "has no answer to a question of locomo_demo",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_file_is_rejected_with_its_fault(imported, name: str) -> None:
    content, message = DAMAGED[name]
    with pytest.raises(BadInput, match=message):
        imported(content)


def test_missing_file_and_missing_probes_are_rejected_with_the_next_step(
    sample, reader, tmp_path: Path
) -> None:
    built = sample()
    with pytest.raises(BadInput, match=r"cannot read .*missing\.json.*Get the file again"):
        import_results(reader(built.probes), built.domain, tmp_path / "missing.json")
    with pytest.raises(BadInput, match="memflow run --domain locomo_demo --memory none"):
        import_results(reader(None), built.domain, tmp_path / "missing.json")
    (tmp_path / "latin.json").write_bytes(b'{"1": "\xe9"}')
    with pytest.raises(BadInput, match="cannot read"):
        import_results(reader(built.probes), built.domain, tmp_path / "latin.json")
