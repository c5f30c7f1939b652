"""DialSim's published questions: sampling and invalid questions."""

import random
from collections import Counter
from typing import Any

import pytest

from memflow.benchmarks.comem.sources.dialsim.published_questions import (
    DrawnQuestion,
    PublishedQuestion,
    build_question,
    draw_questions,
    questions_by_sort,
)

AT = "May 9, 1995"


def asks(words: str = "Who?", **more: Any) -> dict[str, Any]:
    return {"questions": {"default": words}, "options": ["Ann", "I don't know."], "answer": "Ann", **more}


def scene(hard: list[str], easy: list[str]) -> dict[str, Any]:
    return {
        "hard_q": {kind: {"0": asks()} for kind in hard},
        "easy_q": {kind: {"0": asks()} for kind in easy},
    }


def kinds(scene: dict[str, Any], times: int = 4000) -> Counter[str]:
    chance = random.Random(0)
    return Counter(
        one.kind for _ in range(times) for one in draw_questions(questions_by_sort(scene), AT, 1, chance)
    )


def test_70_percent_of_sampled_dialsim_questions_are_hard():
    found = kinds(scene(["past", "cur"], ["ans_w_time"]))
    assert found["past"] + found["cur"] == pytest.approx(2800, abs=120)
    assert found["past"] == pytest.approx(1400, abs=120)


def test_share_of_unanswerable_kinds_among_sampled_questions_is_limited():
    # One of five kinds is a fifth, below 0.215; one of three comes to one of five. Of two, one of four is below 0.27.
    assert kinds(scene(["past", "cur", "fu"], []))["fu"] == pytest.approx(800, abs=100)
    assert kinds(scene([], ["ans_w_time", "dont_know_unans"]))["dont_know_unans"] == pytest.approx(
        1000, abs=100
    )


def quiz(**more: Any) -> DrawnQuestion:
    raw = {"questions": {"default": "Who?", "Bo": "Hey, who?"}, "options": ["ann", "Rome", "I don't know."]}
    return DrawnQuestion(
        "easy_q", "ans_w_time", "7", PublishedQuestion.model_validate({**raw, "answer": "Ann", **more})
    )


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"answer": "Dee"}, "its answer 'Dee' is not an option"),
        ({"options": ["Ann", "ann"]}, "two options of the question are equal"),
    ],
)
def test_invalid_dialsim_question_has_reason_and_no_answer(more: dict[str, Any], reason: str):
    asked = build_question("q", quiz(**more), AT, 1)
    assert asked.reason == reason and asked.answer is None
