"""The analysis of published runs, on small handmade runs whose figures are known."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memflow.benchmarks.packaged import load_yaml
from memflow.benchmarks.plugins import load_object
from memflow.cli import app
from memflow.published_runs.evidence_in_context import Context, ConversationMessages, calibrated_rule
from memflow.published_runs.page import page_parts, page_text
from memflow.published_runs.report import RunsReport
from memflow.published_runs.rescoring import RescoredRun, benchmark_facts
from memflow.published_runs.rows import NO_LABEL, Claim, DeclaredRun, PublishedAnswer, PublishedRun
from memflow.published_runs.run_attribution import BenchmarkMessages, attribute_run
from memflow.published_runs.run_checks import check_claims, check_labels

CONVERSATIONS = ("a", "b", "c", "d", "e", "f")
QUESTIONS = 10


def answers(right: int, **fields: object) -> tuple[PublishedAnswer, ...]:
    """Return ten answers in each conversation, of which the first `right` are labeled correct."""
    return tuple(
        PublishedAnswer(
            **{
                "question_id": f"{name}/q{number}",
                "conversation": name,
                "category": str(1 + number % 2),
                "answer": "red" if number < right else "blue",
                "gold": "red",
                "label": float(number < right),
                **fields,
            }
        )
        for name in CONVERSATIONS
        for number in range(QUESTIONS)
    )


def run(name: str, rows: tuple[PublishedAnswer, ...], **declared: object) -> PublishedRun:
    fields = {
        "system": "s",
        "benchmark": "own",
        "folder": name,
        "files": (),
        "form": "f",
        "judge": "j",
        "reader": "r",
    }
    return PublishedRun(
        form="f",
        benchmark="own",
        contract="c",
        files=("x.json",),
        digest="0" * 16,
        answers=rows,
        declaration=DeclaredRun(id=name, **{**fields, **declared}),
    )


def report(*runs: PublishedRun, messages: BenchmarkMessages | None = None) -> RunsReport:
    return RunsReport.of_runs(runs, {"own": messages} if messages else {}, {})


def page(of: RunsReport) -> str:
    return page_text(page_parts(of), "2026-01-02", "memflow import published x")


def test_labels_have_the_interval_of_a_proportion_over_conversations() -> None:
    interval = RescoredRun(run("x", answers(7))).values["accuracy"].interval()
    assert interval.value == pytest.approx(0.7)
    assert interval.low is not None and interval.low < 0.6 and interval.units == "episodes"


def test_run_of_one_conversation_has_no_interval_and_is_in_the_json_result_only() -> None:
    rows = tuple(answer for answer in answers(7) if answer.conversation == "a")
    [row] = report(run("x", rows)).data()["runs"]
    assert (row["value"], row["low"], row["reason"]) == (pytest.approx(0.7), None, "1 episode")
    assert "70.00" not in page(report(run("x", rows)))


def test_answer_without_a_label_of_the_judge_counts_as_wrong_and_is_named() -> None:
    rows = (*answers(10)[:-1], answers(10, label=None, label_reason=NO_LABEL)[-1])
    assert RescoredRun(run("x", rows)).values["accuracy"].interval().value == pytest.approx(59 / 60)
    assert "The judge did not label 1 answer of x. Such answers count as wrong." in page(
        report(run("x", rows))
    )


def test_selected_questions_have_no_accuracy() -> None:
    text = page(report(run("x", answers(7), selection="selected")))
    assert "none: selected questions" in text and "70.00" not in text


def test_claim_outside_the_interval_of_the_labels_is_stated() -> None:
    claims = (Claim(metric="accuracy", value=0.95, where="README"),)
    [check] = check_claims([RescoredRun(run("x", answers(5), claims=claims))])
    assert check.is_equal is False and check.is_outside
    [statement] = [
        text for text in report(run("x", answers(5), claims=claims)).statements() if "claims" in text
    ]
    assert "95.0 %" in statement and "50.0 %" in statement and "outside" in statement


def test_claimed_mean_of_runs_is_compared_only_with_all_runs() -> None:
    claim = (Claim(metric="accuracy", value=0.6, where="README", note="mean of two runs"),)
    five, seven = (RescoredRun(run(str(right), answers(right), claims=claim)) for right in (5, 7))
    assert [check.is_equal for check in check_claims([five, seven])] == [True, True]
    assert [check.is_equal for check in check_claims([five])] == [None]


def test_runs_of_a_system_are_paired_by_question() -> None:
    [[row]] = report(run("x", answers(4)), run("y", answers(6))).families
    assert row.difference.difference == pytest.approx(-0.2) and row.difference.n == 60
    assert row.p_adjusted == pytest.approx(2 ** (1 - len(CONVERSATIONS))) and row.better == "b"


@pytest.mark.parametrize("other", [{"judge": "k"}, {"system": "t", "reader": "q"}])
def test_runs_of_another_judge_or_of_another_system_and_reader_are_not_compared(
    other: dict[str, str],
) -> None:
    assert report(run("x", answers(4)), run("y", answers(6), **other)).families == []


def test_labels_of_two_judges_stand_in_two_tables() -> None:
    text = page(report(run("x", answers(4)), run("y", answers(6), judge="k")))
    assert "own; judge j; judge prompt c" in text and "own; judge k; judge prompt c" in text


def test_runs_of_two_systems_whose_judges_are_not_stated_stand_in_two_tables() -> None:
    runs = [run("x", answers(4), judge="not stated"), run("y", answers(6), judge="not stated", system="t")]
    text = page(report(*runs))
    assert "judge not stated (s)" in text and "judge not stated (t)" in text and report(*runs).families == []


def test_answers_that_repeat_without_a_word_of_the_gold_are_counted() -> None:
    check = check_labels(RescoredRun(run("x", answers(6, label=1.0))))
    assert check is not None
    assert (check.common, check.commons, check.common_right.value) == ("blue", 24, 1.0)
    assert any(
        "\u201cblue\u201d to 24 questions" in text
        for text in report(run("x", answers(6, label=1.0))).statements()
    )


def test_answers_cut_at_one_length_have_no_f1() -> None:
    assert "word_f1" not in RescoredRun(run("x", answers(6, answer="x" * 200))).values


def test_self_judged_runs_are_marked() -> None:
    assert "self-judged" in page(report(run("x", answers(4), judge="r")))


MESSAGES = BenchmarkMessages(
    {name: {f"D1:{number}": f"the {name}{number} parrot likes seed{number} cake{name}" for number in range(10)}
     | {"D2:1": f"harbor lights {name} shine tonight"} for name in CONVERSATIONS},
    dict.fromkeys(CONVERSATIONS, ()),
    {f"{name}/q{number}": [f"D1:{number}"] for name in CONVERSATIONS for number in range(QUESTIONS)},
)  # fmt: skip


def with_contexts(retrieved: int, right: int) -> tuple[PublishedAnswer, ...]:
    """Return answers whose contexts have their evidence in the first `retrieved` questions of each conversation."""
    return tuple(
        PublishedAnswer(
            question_id=name,
            conversation=name[0],
            category="1",
            label=float(number < right),
            texts=(MESSAGES.texts[name[0]][f"D1:{number}" if number < retrieved else "D2:1"],),
            messages=(),
            has_context=True,
        )
        for name in MESSAGES.evidence
        for number in [int(name[3:])]
    )


def test_evidence_is_found_in_texts_word_for_word() -> None:
    part = attribute_run(RescoredRun(run("x", with_contexts(retrieved=8, right=5))), MESSAGES)
    assert part is not None and part.kind == "words" and part.rule is not None
    assert part.retrieved.value == pytest.approx(0.8)
    assert part.count(correct=False) == 30
    assert part.with_all_evidence(correct=False).value == pytest.approx(3 / 5)
    assert part.without_evidence(correct=True).value == 0


def test_retrieved_ids_are_compared_with_the_evidence_and_failures_are_shared() -> None:
    rows = tuple(
        PublishedAnswer(
            question_id=f"{name}/q{number}",
            conversation=name,
            category="1",
            label=0.0,
            messages=("D1:1",),
            recorded_evidence=("D1:1",) if number < 4 else ("D1:1", "D1:2"),
            has_context=True,
        )
        for name in CONVERSATIONS
        for number in range(QUESTIONS)
    )
    part = attribute_run(RescoredRun(run("x", rows)), BenchmarkMessages())
    assert part is not None and part.rule is None
    assert part.scores["evidence_recall"].value == pytest.approx(0.7)
    assert part.scores["utilization_failure"].value == pytest.approx(0.4)
    assert part.scores["read_failure"].value == pytest.approx(0.6)


def test_missing_evidence_in_a_cut_context_is_not_attributed() -> None:
    rows = with_contexts(retrieved=0, right=5)
    cut = tuple(replace(row, context_cut=True) for row in rows)
    part = attribute_run(RescoredRun(run("x", cut)), MESSAGES)
    assert part is not None and part.attributed == []


def test_rules_bound_false_matches_and_order_strict_above_lenient() -> None:
    rule = calibrated_rule([number / 100 for number in range(100)], [number / 50 for number in range(50)])
    assert rule.lenient == pytest.approx(0.95) and rule.strict >= rule.lenient and rule.n == 100


def test_paraphrased_message_has_a_share_and_a_foreign_one_has_none() -> None:
    conversation = ConversationMessages(
        {"1": "Melanie painted a sunrise last year", "2": "dogs bark loudly outside"}
    )
    context = Context(["A sunrise was painted by Melanie."])
    [paraphrase, foreign] = conversation.shares(conversation.messages.values(), context)
    assert 0.5 < paraphrase < 1 and foreign == 0


def test_page_has_date_command_and_source_but_no_text_of_the_files() -> None:
    rows = answers(4, question="What is the color of the secret door?")
    text = page(report(run("x", rows, source="github.com/o/r @abc", license="MIT")))
    assert "This page was made on 2026-01-02 by `memflow import published x`" in text
    assert "github.com/o/r @abc" in text and "secret door" not in text


def test_command_refuses_a_folder_without_published_runs(tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, ["--home", str(tmp_path), "import", "published", str(tmp_path)])
    assert refused.exit_code != 0
    assert "no published run that can be read" in f"{refused.exception}{refused.output}"


def test_report_is_plain_json() -> None:
    data = report(run("x", with_contexts(8, 5)), run("y", with_contexts(6, 4)), messages=MESSAGES).data()
    assert json.loads(json.dumps(data))["comparisons"][0]["a"] == "x"


@pytest.mark.parametrize("name", load_yaml("memflow.published_runs", "benchmarks.yaml"))
def test_functions_that_a_benchmark_declares_exist(name: str) -> None:
    facts = benchmark_facts(name)
    assert [path for path in (facts.f1, facts.known_errors) if path and not callable(load_object(path))] == []
