"""Import of published answers: the three forms of files, damaged files, and contradictions to the domain's probes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.locomo.results_import import MISSING, NO_LABEL, NOT_JUDGED, import_results
from memflow.benchmarks.views import ImportedResults
from memflow.errors import BadInput
from memflow.records import Probe

Rows = dict[str, list[dict[str, Any]]]


def mem0_2025(probes: list[Probe], right: Callable[[Probe], bool] = lambda probe: True) -> Rows:
    """Return results in the form of Mem0's evaluation of 2025, with conversations in another order."""
    found: Rows = {}
    for probe in probes:
        row = {
            "question": f"{probe.question} ",
            "answer": probe.gold,
            "response": probe.gold if right(probe) else "no",
            "category": probe.category,
            "llm_score": int(right(probe)),
        }
        found.setdefault(str(2 - int(probe.episode_id[-1])), []).append(row)
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
    expected = ["the results of cutoff top_20 are not imported"] if form is mem0_2026 else []
    assert list(results.faults) == expected


def test_model_name_that_is_not_unicode_can_be_stored(sample, imported) -> None:
    content = mem0_2026(sample().probes)
    content["metadata"] = {"answerer_model": "\ud800 " + "x" * 200, "timestamp": ["no text"]}
    results = imported(content)
    results.model.encode()
    json.dumps(dict(results.settings), ensure_ascii=False).encode()
    assert results.assistant.startswith("imported_my-results@-ud800-x") and len(results.model) < 100
    assert "timestamp" not in results.settings


def test_folder_with_one_json_file_is_read_and_with_several_is_rejected(
    sample, reader, tmp_path: Path
) -> None:
    built = sample()
    (tmp_path / "results.json").write_text(json.dumps(mem0_2025(built.probes)), encoding="utf-8")
    assert (
        import_results(reader(built.probes), built.domain, tmp_path).assistant == "imported_results@unknown"
    )
    (tmp_path / "more.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadInput, match="has 2 JSON files"):
        import_results(reader(built.probes), built.domain, tmp_path)


def test_nth_answer_to_a_repeated_question_belongs_to_its_nth_probe(
    sample, imported, tmp_path: Path, reader
) -> None:
    def repeat(talks: list[Any]) -> None:
        talks[0]["qa"][3] = dict(talks[0]["qa"][0])

    built = sample(repeat, tmp_path)
    content = mem0_2025(built.probes, lambda probe: probe.probe_id != "sample-1/q3")
    path = tmp_path / "repeated.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    labels = values(import_results(reader(built.probes), built.domain, path), "j_2025")
    assert (labels["sample-1/q0"], labels["sample-1/q3"]) == (1.0, 0.0)


def test_answers_of_2026_are_in_the_order_of_their_question_numbers(sample, tmp_path: Path, reader) -> None:
    def repeat(talks: list[Any]) -> None:
        talks[0]["qa"][3] = dict(talks[0]["qa"][0])

    built = sample(repeat, tmp_path)
    content = mem0_2026(built.probes)  # in reverse order
    numbered = {row["question_id"]: row["cutoff_results"]["top_200"] for row in content["evaluations"]}
    numbered["conv1_q3"]["judgment"] = "WRONG"
    path = tmp_path / "reversed.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    labels = values(import_results(reader(built.probes), built.domain, path), "j_2026")
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
    rows = content["1"]  # of sample-1
    rows[0]["answer"] = "Rex"
    rows[1]["category"] = "4"
    rows[2]["llm_score"] = None
    rows[4]["answer"] = "Yes"  # the gold up to the semicolon
    rows[5]["f1_score"] = 0.25
    del rows[6]["response"]
    rows[7] = None
    rows[3]["question"] = "Who is this?"
    content["7"] = content["x"] = {}
    results = imported(content)
    reasons = {reply.probe_id: reply.reason for reply in results.replies if reply.reason}
    assert reasons == {
        "sample-1/q0": "the gold answer of the recorded question is not that of the probe",
        "sample-1/q1": "the category of the recorded question is not that of the probe",
        "sample-1/q3": MISSING,
        "sample-1/q6": MISSING,
        "sample-1/q7": MISSING,
    }
    labels = values(results, "j_2025")
    assert {name for name, value in labels.items() if value is None} == {*reasons, "sample-1/q2"}
    unlabeled = next(
        row for row in results.verdicts if (row.probe_id, row.metric) == ("sample-1/q2", "j_2025")
    )
    assert unlabeled.reason == NO_LABEL
    as_wrong = values(results, "j_2025", "unlabeled_as_wrong")
    assert as_wrong["sample-1/q2"] == 0.0 and as_wrong["sample-1/q0"] is None
    faults = "\n".join(results.faults)
    assert "conversation 1, answer 6: the field 'response' is missing" in faults
    assert "conversation 1, answer 7: the answer is not an object" in faults
    assert '"Who is this?" is no question of locomo_demo' in faults
    assert "the recorded F1 is not that of the answer" in faults
    assert [f"{key}: not a list of answers of a conversation" in faults for key in "7x"] == [True] * 2
    assert len(results.faults) == 6


DAMAGED: dict[str, tuple[Any, str]] = {
    "truncated": ('{"1": [{"question": "W', "cannot read .* as JSON"),
    "empty file": ("", "cannot read .* as JSON"),
    "nested too deeply": ("[" * 200_000, "cannot read .* as JSON"),
    "a list": ([], "none of the known forms"),
    "no object": ("3", "none of the known forms"),
    "no answers": ({"1": []}, "none of the known forms"),
    "no evaluations": ({"evaluations": []}, "no valid answer"),
    "evaluations of wrong types": ({"evaluations": [3, {"question_id": None}]}, "no valid answer"),
    "cutoffs of a wrong type": (
        {"evaluations": [{"question_id": "conv0_q0", "cutoff_results": ["top_1"]}]},
        "no valid answer",
    ),
    "answers of wrong types": ({"1": [{"response": 3}, {"response": ["x"]}]}, "no valid answer"),
    "grades as text": (
        {"0": [{"question": "q", "answer": "a", "golden_answer": "g", "grade": "true", "category": 4}]},
        "no valid answer. The first fault: conversation 0, answer 0: at grade",
    ),
    "label out of range": (
        {"0": [{"question": "q", "answer": "a", "response": "r", "category": "4", "llm_score": 7}]},
        "at label: Input should be less than or equal to 1",
    ),
    "half of a surrogate pair": (
        '{"0": [{"question": "q", "answer": "a", "response": "\\ud800", "category": "4", "llm_score": 1}]}',
        "no valid answer",
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
