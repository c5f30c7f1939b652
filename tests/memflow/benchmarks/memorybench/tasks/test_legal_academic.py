"""LexEval, JuDGE, IdeaBench, SciTechNews and LimitGen-Syn: small invented files, and the published files."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import pytest

from memflow.benchmarks.memorybench.load import build_pools
from memflow.benchmarks.memorybench.tasks.task import Case
from memflow.records import Record


def table(*rows: Mapping[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def cases(records: list[Record]) -> list[Case]:
    (pool,) = build_pools(records)
    return list(pool.cases)


LEXEVAL = {
    "instruction": "请回答下列问题。\n",
    "input": "什么是要约？",
    "answer": "要约是希望订立合同的意思表示。",
}
JUDGE = {"text_id": "j-1", "text": " 被告人甲盗窃自行车一辆。 ", "la": [264], "fd": "刑事判决书 判决如下：……"}
NEWS = {
    "sc-title": "On Kites",
    "sc-abstract": "Kites rise. They also fall.",
    "sc-article": "The whole paper.",
    "pr-title": "Kites go up",
    "pr-summary": "A kite is a thing that goes up.",
    "pr-article": "The whole release.",
}
TARGET = {"paperId": "p1", "title": "Of wind", "abstract": "Wind lifts {greater than or equal to} one kite."}
REFERENCES = [{"targetPaperId": "p1", "abstract": f"Finding {{number}} {number}."} for number in range(5)]
PAPER = {
    "title": "On Kites", "abstract": "We fly kites.",
    "sections": [
        {"section_id": "1", "parent_section_id": "None", "section_name": "Wind", "text": "It blows."},
        {"section_id": "2", "parent_section_id": "None", "section_name": "Rope", "text": "It holds."},
    ],
}  # fmt: skip
LABEL = {"element": "rope", "ground_truth": "No ablation of the rope."}
LEXEVAL_FILE, JUDGE_FILE, NEWS_FILE = "lexeval/5_4.json", "judge/test.json", "scitechnews/test.json"
TARGETS, FOUND = "ideabench/target_papers.csv", "ideabench/filtered_references.csv"
ANNOTATED = "limitgen_syn/annotated/ablation/2403.1v1.json"
LABELS = "limitgen_syn/sections/ablation.json"
SMALL: dict[str, dict[str, Any]] = {
    "lexeval_qa": {LEXEVAL_FILE: [LEXEVAL, {**LEXEVAL, "input": "什么是承诺？"}]},
    "judge": {JUDGE_FILE: [JUDGE]},
    "scitechnews": {NEWS_FILE: [NEWS]},
    "ideabench": {TARGETS: table(TARGET), FOUND: table(*REFERENCES)},
    "limitgen": {ANNOTATED: json.dumps(PAPER), LABELS: json.dumps({"2403.1v1": LABEL, "2403.9v1": LABEL})},
}


def test_lexeval_question_joins_instruction_and_input(read_files: Any) -> None:
    first, second = cases(read_files("lexeval_qa", SMALL["lexeval_qa"]))
    assert (first.case_id, first.language) == ("0", "zh")
    assert first.question == "请回答下列问题。\n什么是要约？"
    assert first.gold == first.revealed == LEXEVAL["answer"]
    assert (second.case_id, second.question) == ("1", "请回答下列问题。\n什么是承诺？")


def test_judge_data_set_reader_orders_training_cases_before_test_cases(read_files: Any) -> None:
    training = [{**JUDGE, "text_id": "j-0", "text": "甲无罪。"}]
    first, second = cases(read_files("judge", {JUDGE_FILE: [JUDGE], "judge/train.json": training}))
    assert (first.case_id, first.question) == ("0", "甲无罪。")
    assert (second.case_id, second.question, second.gold) == ("1", "被告人甲盗窃自行车一辆。", JUDGE["fd"])
    assert second.language == "zh"


def test_scitechnews_prompt_truncates_abstract_to_1024_words(read_files: Any) -> None:
    long = " ".join(f"w{number}" for number in range(1030))
    short, cut = cases(read_files("scitechnews", {NEWS_FILE: [NEWS, {**NEWS, "sc-abstract": long}]}))
    assert short.question == "On Kites\n\nKites rise. They also fall."
    assert json.loads(short.gold) == {
        "title": "On Kites",
        "abstract": "Kites rise. They also fall.",
        "pr_title": "Kites go up",
        "pr_summary": "A kite is a thing that goes up.",
    }
    assert short.revealed == "Kites go up\nA kite is a thing that goes up."
    assert cut.question.endswith(" w1023") and json.loads(cut.gold)["abstract"] == long


def test_ideabench_samples_the_same_references_of_a_paper_in_any_file(read_files: Any) -> None:
    papers = [{**TARGET, "paperId": f"p{number}"} for number in range(1, 20)]
    references = [{**row, "targetPaperId": paper["paperId"]} for paper in papers for row in REFERENCES]
    several = cases(read_files("ideabench", {TARGETS: table(*papers), FOUND: table(*references)}))
    assert len({case.question for case in several}) > 5
    (case,) = cases(read_files("ideabench", SMALL["ideabench"]))
    assert case == several[0]
    abstracts = case.question.split("\n\n")
    assert [text.partition(": ")[0] for text in abstracts] == ["Abstract 1", "Abstract 2", "Abstract 3"]
    sampled = {text.partition(": ")[2] for text in abstracts}
    assert len(sampled) == 3 and sampled < {f"Finding number {number}." for number in range(5)}
    assert json.loads(case.gold) == {"title": "Of wind", "abstract": TARGET["abstract"]}
    assert case.reason is None and TARGET["title"] not in case.question


@pytest.mark.parametrize(
    ("name", "files", "reason"),
    [
        ("scitechnews", {NEWS_FILE: [{**NEWS, "pr-summary": " "}, NEWS]}, "the paper has no pr-summary"),
        ("ideabench", {TARGETS: table({**TARGET, "abstract": ""}, {**TARGET, "paperId": "p2"}),
                       FOUND: table(*REFERENCES, {**REFERENCES[0], "targetPaperId": "p2"})},
         "the paper p1 has no abstract in the published file"),
        ("ideabench", {TARGETS: table({**TARGET, "paperId": "p2"}, TARGET),
                       FOUND: table(REFERENCES[0], {"targetPaperId": "p2", "abstract": " "})},
         "p2 has no abstract of a reference"),
        ("limitgen", {"limitgen_syn/annotated/ablation/2403.0v1.json": json.dumps(PAPER), **SMALL["limitgen"]},
         "the paper 2403.0v1 has no valid label in sections/ablation.json; get that file"),
    ],
)  # fmt: skip
def test_incomplete_paper_record_quarantines_its_case_only(
    read_files: Any, name: str, files: Any, reason: str
) -> None:
    first, second = cases(read_files(name, files))
    assert reason in (first.reason or "") and second.reason is None


def test_limitgen_case_has_paper_text_as_question_and_planted_kind_as_category(read_files: Any) -> None:
    (one,) = cases(read_files("limitgen", SMALL["limitgen"]))
    assert (one.case_id, one.category) == ("ablation/2403.1v1", "ablation")
    assert (
        one.question == "Title: On Kites\nAbstract: We fly kites.\n1 Wind:\nIt blows.\n\n2 Rope:\nIt holds."
    )
    assert json.loads(one.gold) == {"ground_truth": "No ablation of the rope.", "category": "ablation"}
    assert one.revealed == "No ablation of the rope."


LABELS_OF_TWO = {"2403.1v1": LABEL, "2403.2v1": LABEL}
SECOND = {"limitgen_syn/annotated/ablation/2403.2v1.json": json.dumps({**PAPER, "title": "On Boats"})}


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        (
            {"limitgen_syn/annotated/ablation/2403.2v1.json": json.dumps(PAPER)[:-9]},
            "truncated or invalid JSON",
        ),
        ({"limitgen_syn/annotated/ablation/2403.2v1.json": json.dumps({**PAPER, "title": None})}, "at title"),
        ({LABELS: json.dumps({**LABELS_OF_TWO, "2403.2v1": {"ground_truth": None}})}, "no valid label"),
    ],
)
def test_invalid_limitgen_paper_or_label_quarantines_only_the_case_of_the_paper(
    read_files: Any, files: dict[str, str], fault: str
) -> None:
    valid = {**SMALL["limitgen"], **SECOND, LABELS: json.dumps(LABELS_OF_TWO)}
    (pool,) = build_pools(read_files("limitgen", {**valid, **files}))
    assert [case.reason is None for case in pool.cases] == [True, False]
    assert fault in str(pool.cases[1].reason)
