"""The traps of published files, each in a small handmade file."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memflow.errors import BadInput
from memflow.published_runs.collection import read_run
from memflow.published_runs.forms import forms
from memflow.published_runs.layouts import Layout, layout_of
from memflow.published_runs.matching import Question, matched
from memflow.published_runs.recognition import read_path, run_name
from memflow.published_runs.rows import JUDGE_OFF, LEFT_OUT, NO_LABEL, DeclaredRun, PublishedRun

Read = Callable[..., PublishedRun]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return a function that writes a file of a form and reads it as a declared run."""

    def run(form: str, content: Any, name: str = "rows.json", **declared: Any) -> PublishedRun:
        lines = name.endswith("l")
        text = (
            content
            if isinstance(content, str)
            else "\n".join(map(json.dumps, content if lines else [content]))
        )
        (tmp_path / name).write_text(text, encoding="utf-8")
        benchmark = forms()[form].benchmark
        return read_run(
            tmp_path,
            DeclaredRun(
                id="r", system="s", benchmark=benchmark, folder="f", files=(name,), form=form, **declared
            ),
        )

    return run


def ids(run: PublishedRun) -> list[str]:
    return [answer.question_id for answer in run.answers]


def labels(run: PublishedRun) -> list[float | None]:
    return [answer.label for answer in run.answers]


def letta(number: int, hits: Sequence[str]) -> dict[str, Any]:
    return {
        "sample_id": "conv-26",
        "question_id": f"conv-26:{number}",
        "question": "?",
        "category": "temporal",
        "retrieved_turn_ids": list(hits),
        "retrieved_session_ids": [hit[1 : hit.index(":")] for hit in hits],
    }


def test_tail_of_an_older_file_behind_a_torn_line_is_left_out(read: Read) -> None:
    rows = [letta(number, ["D1:3"]) for number in range(3)]
    tail = [letta(number, ["D1:3", "D2:1"]) for number in (1, 2)]
    text = "\n".join([*map(json.dumps, rows), '1", "9"], "evidence', *map(json.dumps, tail)])
    run = read("letta", text, "rows.jsonl")
    assert [answer.messages for answer in run.answers] == [("D1:3",)] * 3
    assert [answer.category for answer in run.answers] == ["2"] * 3
    assert run.faults[0] == "rows.jsonl, line 4: not JSON, such as a torn line"
    assert run.faults[1].startswith("2 rows repeat a question")


def mem0(name: str, judgment: str | None, top: str = "top_50") -> dict[str, Any]:
    row = {"question_id": name, "question_type": "t", "ground_truth_answer": "g", "category": 4}
    result = {"judgment": judgment, "generated_answer": "a"}
    return {**row, "cutoff_results": {top: result}} if judgment else row


def test_rows_without_results_do_not_displace_those_with_results(read: Read) -> None:
    names = ["a", "b", "c"]
    rows = [*(mem0(name, None) for name in names), *(mem0(name, "PASS") for name in names), mem0("d", None)]
    run = read("mem0_2026_longmemeval", {"evaluations": rows})
    assert ids(run) == names and labels(run) == [1.0] * 3
    assert [fault.partition(";")[0] for fault in run.faults] == [
        "3 rows have no answer, but another row has",
        "1 rows have no answer, label or context, such as rows.json, row 6",
    ]


def test_labels_that_are_no_verdict_have_a_reason_and_no_value(read: Read) -> None:
    rows = [
        mem0(f"conv0_q{number}", label) for number, label in enumerate(["CORRECT", "ERROR", "WRONG", "SKIP"])
    ]
    run = read("mem0_2026", {"evaluations": rows})
    assert labels(run) == [1.0, None, 0.0, None]
    assert [answer.label_reason for answer in run.answers] == [None, f"{NO_LABEL}: ERROR", None, LEFT_OUT]


def test_largest_cutoff_is_read_and_a_declared_run_names_another(read: Read) -> None:
    rows = [mem0("conv0_q0", "WRONG", "top_20"), mem0("conv0_q1", "CORRECT", "top_200")]
    run = read("mem0_2026", {"evaluations": rows})
    assert run.choice == "top_200" and ids(run) == ["conv-26/q1"]
    assert run.notes == ("the results of top_20 are not read, only those of top_200",)
    assert labels(read("mem0_2026", {"evaluations": rows}, choice="top_20")) == [0.0]
    with pytest.raises(BadInput, match="the file has no top_3"):
        read("mem0_2026", {"evaluations": rows}, choice="top_3")


def kumiho(number: int, right: bool, judged: bool = False, category: int = 4) -> dict[str, Any]:
    return {
        "question_id": f"conv-26_q{number}",
        "question": "?",
        "ground_truth": "Rex",
        "prediction": "rex" if right else "Tom",
        "recalled_context": "x" * (500 if number else 20),
        "judge_score": judged,
        "metadata": {"category": category},
    }


def test_labels_of_a_judge_that_was_off_are_not_imported(read: Read) -> None:
    rows = [kumiho(number, number == 3) for number in range(12)]
    apart = kumiho(160, True, judged=True, category=5)
    run = read("kumiho", [*rows, apart])
    assert labels(run)[:12] == [None] * 12 and run.answers[0].label_reason == JUDGE_OFF
    assert "none of 12 labels is positive, but 1 answers equal the gold" in run.faults[0]
    strict = read("kumiho", [kumiho(number, False) for number in range(12)])
    assert labels(strict) == [0.0] * 12 and strict.faults == (), "wrong answers may all have the label 0"
    judged = read("kumiho", [*rows, kumiho(13, True, judged=True)])
    assert labels(judged) == [0.0] * 12 + [1.0], "a judge may reject an answer that equals the gold"


def test_contexts_of_one_largest_length_are_cut(read: Read) -> None:
    run = read("kumiho", [kumiho(number, False) for number in range(12)])
    assert [answer.context_cut for answer in run.answers] == [False, *[True] * 11]
    assert "11 contexts are cut at 500 characters" in run.notes[0]


def test_swapped_names_of_categories_become_the_integers_of_the_benchmark(read: Read) -> None:
    rows = [
        {
            "query_id": f"conv-26_q{at}",
            "query": "?",
            "gold_answers": ["a", "b"],
            "answer": "a",
            "meta": {"category": name},
        }
        for at, name in enumerate(["single-hop", "temporal", "multi-hop", "open-domain"])
    ]
    run = read("cognee_amb", {"results": rows})
    assert [answer.category for answer in run.answers] == ["1", "2", "3", "4"]
    assert run.answers[0].gold == "a\nb"
    row = {
        "conv_index": 0,
        "question_index": 7,
        "prediction": "a",
        "category": 2,
        "category_name": "multi-hop",
    }
    assert read("cogmem", {"per_question": [row]}).answers[0].category == "2"


def backboard(gold: Any, category: int = 4, right: bool = True) -> dict[str, Any]:
    return {
        "conversation_id": "conv-30",
        "category": category,
        "question": "When?",
        "expected_answer": gold,
        "ai_response": "2022",
        "evaluation": {"is_correct": right},
    }


def test_integer_golds_are_texts_and_an_invalid_row_shifts_no_position(read: Read) -> None:
    run = read(
        "backboard",
        {
            "responses": [
                backboard(2022, 2),
                {**backboard(1), "evaluation": {"is_correct": 9}},
                backboard("x"),
            ]
        },
    )
    assert [answer.gold for answer in run.answers] == ["2022", "x"] and ids(run) == [
        "conv-30/q0",
        "conv-30/q2",
    ]
    assert run.faults == ("rows.json, row 1: the label 9 is not between 0 and 1",)


def test_rows_in_order_count_with_or_without_the_questions_that_are_scored_apart(read: Read) -> None:
    scored = read("backboard", {"responses": [backboard("x")] * 81})
    assert ids(scored)[78:] == ["conv-30/q78", "conv-30/q80", "conv-30/q81"]
    all_rows = read("backboard", {"responses": [backboard("x", 5 if at == 79 else 4) for at in range(81)]})
    assert ids(all_rows)[78:] == ["conv-30/q78", "conv-30/q79", "conv-30/q80"]
    more = read("backboard", {"responses": [backboard("x")] * 82})
    assert more.faults == ("rows.json, row 81: conv-30 has no such question",)


def test_unknown_conversations_are_faults_unless_the_declaration_names_the_conversation(read: Read) -> None:
    unknown = read("backboard", {"responses": [{**backboard("x"), "conversation_id": "unknown"}]})
    assert unknown.answers == () and "the conversation 'unknown' is unknown" in unknown.faults[0]
    row = {
        "conversation_id": "unknown",
        "question_idx": 3,
        "retrieval_context": "c",
        "metrics": {"beam_rubric": {"score": 0.5}},
    }
    assert ids(read("cognee_beam", [row], conversation="10M_0")) == ["10M_0/q3"]


def test_three_votes_have_the_label_of_the_majority(read: Read) -> None:
    votes = [{"1": True, "2": True, "3": False}, {"1": False, "2": True, "3": False}, {}]
    rows = [
        {"question_id": f"locomo_0_qa{at}", "generated_answer": "a", "llm_judgments": vote, "category": "4"}
        for at, vote in enumerate(votes)
    ]
    run = read("three_votes", {"detailed_results": {"locomo_exp_user_0": rows}})
    assert labels(run) == [1.0, 0.0, None] and run.answers[0].votes == (1.0, 1.0, 0.0)


def question(number: int, text: str, category: str = "4") -> tuple[str, Question]:
    return f"conv-26/q{number}", Question("conv-26", category, text, "g")


def test_text_and_category_are_compared_after_the_position_and_a_difference_names_the_row(read: Read) -> None:
    rows = [
        mem0(f"conv0_q{number}", "CORRECT") | {"question": text}
        for number, text in enumerate(["A  b?", "no", "C?"])
    ]
    rows.append(mem0("conv0_q4", "WRONG") | {"question": "Which buisiness do you have?"})
    run = read("mem0_2026", {"evaluations": rows[::-1]})
    asked = [question(0, "a b?"), question(1, "B?"), question(2, "C?", "1"), question(9, "D?")]
    found = matched(run, dict([*asked, question(4, "Which business do you have?")]))
    assert ids(found) == ["conv-26/q0", "conv-26/q4"]
    assert found.faults == (
        "rows.json, row 2: the question is not that of conv-26/q1",
        "rows.json, row 1: category 4 is not that of conv-26/q2",
        "rows.json, row 0: the question differs in spelling from conv-26/q4",
    )
    assert matched(run, dict([question(0, "A b?")])).faults == (
        "3 answers to other questions than the 1 of the domain",
    )


def test_rows_without_positions_are_matched_by_all_that_they_state_and_doubles_in_order(read: Read) -> None:
    rows = [
        {"conv": 0, "category": category, "question": text, "gold": "g", "pred": f"{at}", "judge": 1}
        for at, (text, category) in enumerate([("B?", 4), ("A?", 4), ("A?", 4), ("A?", 1), ("X?", 4)])
    ]
    run = read("acb", rows, "rows.jsonl")
    assert ids(run) == [""] * 5
    questions = dict([question(0, "A?"), question(1, "B?"), question(2, "A?", "1"), question(3, "A?")])
    found = matched(run, questions)
    assert [answer.answer for answer in found.answers] == ["1", "0", "3", "2"]
    assert found.faults[0] == "rows.jsonl, row 4: no question, or more answers than questions"
    assert found.faults[1].startswith("2 answers to questions that occur twice")


def test_names_and_numbers_of_conversations() -> None:
    layout = layout_of("locomo")
    assert layout is not None and sum(map(len, layout.scored.values())) == 1_540
    assert sum(map(len, layout.apart.values())) == 446
    names = ["conv-26", "0", "conv0", "locomo_exp_user_0", "locomo_experiment_user_9", "10", "x"]
    assert [layout.conversation(name) for name in names] == [*["conv-26"] * 4, "conv-50", None, None]
    assert layout.conversation("locomo_conversation_10", counts_from=1) == "conv-50"
    own = Layout.of_ids(["t/q0", "t/q2"], "5")
    assert [own.position("t", place, False) for place in range(3)] == [0, 2, None]
    assert [own.position("t", place, True) for place in range(3)] == [0, 1, 2]


def test_blocks_become_the_messages_that_they_cover(read: Read, tmp_path: Path) -> None:
    row = {
        "user_id": "0",
        "qa_idx": 4,
        "category": 2,
        "pred": "a",
        "topk": [7, 9],
        "target_boxes": [9, 8],
        "f1": 0.5,
    }
    block = {
        "block_id": 9,
        "coverage": {"session_id": "session_2", "start_idx": 3, "end_idx": 4},
        "features": {"content_text": "hi"},
    }
    (tmp_path / "blocks.jsonl.gz").write_bytes(gzip.compress(json.dumps(block).encode()))
    (answer,) = read("samem", [row], "rows.jsonl", companions={"blocks": "blocks.jsonl"}).answers
    assert (answer.messages, answer.texts, answer.question_id) == (("D2:3", "D2:4"), ("hi",), "conv-26/q4")
    assert (answer.metrics["block_recall"], answer.metrics["block_hit"], answer.retrieved) == (0.5, 1.0, 2)
    alone = read("samem", [row], "rows.jsonl")
    assert alone.answers[0].messages == () and "the retrieved messages are unknown" in alone.notes[0]


def test_file_with_another_form_or_checksum_than_declared_is_told(read: Read) -> None:
    with pytest.raises(BadInput, match=r"not of the form acb .*: it has an object with the keys 'x'"):
        read("acb", {"x": 1})
    run = read("backboard", {"responses": [backboard("x")]}, sha256={"rows.json": "0" * 64})
    assert "the content is not that of the declared run" in run.faults[0]
    with pytest.raises(BadInput, match=r"no file gone\.json"):
        read_run(
            Path("/nowhere"),
            DeclaredRun(id="r", system="s", benchmark="b", folder="f", files=("gone.json",), form="acb"),
        )


def test_results_of_other_benchmarks_say_where_they_belong(tmp_path: Path) -> None:
    row = {"qa_pair_id": "a", "golds": ["g"], "correct": True, "answer": "x"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    with pytest.raises(BadInput, match="of which memflow has no questions to import into"):
        read_path(tmp_path / "a.jsonl", "locomo", {})
    (tmp_path / "b.jsonl").write_text(json.dumps({"question_id": "a", "autoeval_label": {"label": True}}))
    with pytest.raises(BadInput, match=r"has results of LongMemEval .*Use a domain of that benchmark"):
        read_path(tmp_path / "b.jsonl", "locomo", {"longmemeval": "LongMemEval"})
    (tmp_path / "c.json").write_text(json.dumps([{"what": 1}]))
    with pytest.raises(
        BadInput, match=r"a list of objects with the keys 'what'\. Known forms: Mem0's evaluation of 2025"
    ):
        read_path(tmp_path / "c.json", "locomo", {})
    (tmp_path / "d.jsonl").write_text(json.dumps(letta(0, ["D1:1"])))
    (tmp_path / "e.json").write_text(json.dumps([kumiho(0, True)]))
    with pytest.raises(BadInput, match="has results of several forms"):
        read_path(tmp_path, "locomo", {})
    assert read_path(tmp_path / "d*", "locomo", {}).form == "letta"


def test_cutoff_or_system_is_chosen_behind_the_name_of_a_file(tmp_path: Path) -> None:
    rows = [{"question_id": "a", "system": name, "correct": name == "new"} for name in ("old", "new")]
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"per_question": rows}))
    with pytest.raises(BadInput, match=r"the file has results of old, new\. Choose one .* FILE#new"):
        read_path(path, "longmemeval", {})
    run = read_path(tmp_path / "report.json#new", "longmemeval", {})
    assert (run.choice, labels(run)) == ("new", [1.0])
    assert run_name(tmp_path / "report.json#new", run) == "report"


def test_folder_without_a_readable_file_is_rejected_with_the_first_fault(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{", encoding="utf-8")
    with pytest.raises(
        BadInput, match=r"none of the 2 result files .* The first fault: cannot read .*a\.json as JSON"
    ):
        read_path(tmp_path, "locomo", {})
