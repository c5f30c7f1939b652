"""The metrics equal the published code's on recorded answers, and on texts of our own with known values."""

import json
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.memoryagentbench.answers import (
    equal,
    events_contained,
    f1,
    listed_titles,
    normalize,
    parsed_line,
    substring_match,
    title_of,
    values,
)
from memflow.benchmarks.memoryagentbench.sources import EVENTS, EXACT, F1, ROUGE_METRICS, SUBSTRING, family
from memflow.metrics.text import rouge_with_recall


@pytest.fixture(scope="module")
def cases(data: Path) -> list[dict[str, Any]]:
    recorded: list[dict[str, Any]] = json.loads((data / "oracle_metrics.json").read_text(encoding="utf-8"))
    return recorded


def test_values_equal_the_published_code_on_recorded_answers(cases: list[dict[str, Any]]) -> None:
    assert len(cases) > 400
    names = {"exact_match": EXACT, "f1": F1, "substring_exact_match": SUBSTRING, "eventqa_recall": EVENTS}
    names |= {metric.replace("rouge_l", "rougeL"): metric for metric in ROUGE_METRICS}
    for case in cases:
        answer, golds, expected = case["prediction"], case["golds"], case["expected"]
        where = f"{case['source']}: {answer!r} against {golds!r}"
        source = family(case["source"])
        assert source is not None
        assert parsed_line(answer) == expected["parsed_output"], where
        found = values(source, answer, golds)
        for name in names.keys() & expected.keys():
            assert found[names[name]] == pytest.approx(float(expected[name])), f"{name}, {where}"


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("The  Harbor-Pilot!", "harborpilot"),
        ("an owl and a fox", "owl and fox"),
        ("The", ""),
        ("theory of A", "theory of"),
    ],
)
def test_normalization_removes_case_punctuation_and_articles(text: str, normalized: str) -> None:
    assert normalize(text) == normalized


def test_gold_that_normalizes_to_nothing_is_equal_but_has_no_f1() -> None:
    assert (equal("the", "The"), f1("the", "The")) == (1, 0)


@pytest.mark.parametrize(("answer", "gold"), [("yes it is", "yes"), ("no", "no way"), ("noanswer", "none")])
def test_f1_of_a_bare_yes_or_no_with_another_text_is_0(answer: str, gold: str) -> None:
    assert f1(answer, gold) == 0


def test_substring_match_accepts_what_only_contains_the_gold() -> None:
    assert (substring_match("Not Belgium", "Belgium"), substring_match("Fred", "red")) == (1, 1)


def test_every_event_must_be_contained() -> None:
    golds = ["Mara left the house.", "It rained."]
    assert events_contained("mara left the house. it rained.", golds) == 1
    assert events_contained("Mara left the house.", golds) == 0


def test_listed_titles_equal_the_published_codes(data: Path) -> None:
    recorded = json.loads((data / "oracle_recommendation.json").read_text(encoding="utf-8"))
    assert len(recorded) > 5
    for case in recorded:
        assert listed_titles(case["text"], case["candidates"]) == case["expected"], case["text"]


def test_title_of_an_entity_has_neither_path_nor_kind() -> None:
    assert title_of("<http://dbpedia.org/resource/The_Blue_Heron_(2014_film)>") == "The Blue Heron"


def test_rouge_equals_rouge_score_on_texts_of_several_lines() -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(
        ["rougeL", "rougeLsum"], use_stemmer=True
    )
    answer, gold = "dogs run\nthe cats walked home\n\nruns", "cats walk\nhome dogs run\nthe the dogs"
    for name, is_summary in (("rougeL", False), ("rougeLsum", True)):
        wanted = scorer.score(target=gold, prediction=answer)[name]
        found = rouge_with_recall(answer, gold, summary=is_summary)
        assert found == pytest.approx((wanted.fmeasure, wanted.recall))


def test_rouge_of_chinese_texts_counts_their_words() -> None:
    assert rouge_with_recall("他住在北京。", "他住在北京") == (1.0, 1.0)
    assert 0 < rouge_with_recall("他住在北京。", "他住在上海。")[0] < 1
