"""What DialSim's pickle asks of a scene: which of it is drawn, who asks it, and how it is put."""

import random
from collections import Counter
from typing import Any

import pytest

from memflow.benchmarks.comem.sources.dialsim.published_questions import Drawn, Quiz, asker, drawn, put, sorts
from memflow.benchmarks.tv_scripts import Utterance

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
    return Counter(one.kind for _ in range(times) for one in drawn(sorts(scene), AT, 1, chance))


def test_seven_of_ten_draws_are_over_the_graph():
    found = kinds(scene(["past", "cur"], ["ans_w_time"]))
    assert found["past"] + found["cur"] == pytest.approx(2800, abs=120)
    assert found["past"] == pytest.approx(1400, abs=120)


def test_the_kinds_that_nobody_can_answer_are_held_below_their_share():
    # One of five kinds is a fifth, below 0.215; one of three comes to one of five. Of two, one of four is below 0.27.
    assert kinds(scene(["past", "cur", "fu"], []))["fu"] == pytest.approx(800, abs=100)
    assert kinds(scene([], ["ans_w_time", "dont_know_unans"]))["dont_know_unans"] == pytest.approx(
        1000, abs=100
    )


def test_where_nothing_can_be_answered_that_is_what_is_asked():
    assert kinds(scene(["fu"], [])) == {"fu": 4000}


def test_a_scene_of_one_sort_is_asked_of_that_one():
    assert kinds(scene([], ["ans_w_time"])) == {"ans_w_time": 4000}
    assert kinds(scene([], [])) == {}


def test_a_question_over_the_graph_that_names_its_own_month_or_year_is_passed_over():
    held = {
        "0": asks("Who left in May 1995?"),
        "1": asks("Who left in 1995?"),
        "2": asks("Who left on May 1, 1995?"),
    }
    found = sorts({"hard_q": {"past": held}})
    chance = random.Random(0)
    assert {one.key for _ in range(100) for one in drawn(found, AT, 1, chance)} == {"2"}
    assert [one.key for one in drawn(found, AT, 0, chance)] == ["0", "1", "2"]


def test_what_has_no_words_cannot_be_asked():
    silent = {"0": asks(""), "1": asks(questions={"Bo": "Who?"}), "2": asks()}
    assert [one.key for one in drawn(sorts({"easy_q": {"ans_w_time": silent}}), AT, 0, random.Random(0))] == [
        "2"
    ]


def test_several_draws_give_no_question_twice():
    found = drawn(sorts(scene(["past"], ["ans_w_time"])), AT, 50, random.Random(0))
    assert {one.kind for one in found} == {"past", "ans_w_time"} and len(found) == 2


def test_the_asker_speaks_near_the_one_whom_the_assistant_plays():
    said = [
        Utterance(0, name, "So.") for name in ("Far", "Ann", "Bo", "Cy", "Ross", "Dee", "Eve", "Fay", "Off")
    ]
    assert {asker(said, "friends", random.Random(seed)) for seed in range(100)} == {
        "Ann", "Bo", "Cy", "Dee", "Eve", "Fay",
    }  # fmt: skip
    assert asker(said, "bigbang", random.Random(0)) is None
    assert asker(said[4:5], "friends", random.Random(0)) is None


def quiz(**more: Any) -> Drawn:
    raw = {"questions": {"default": "Who?", "Bo": "Hey, who?"}, "options": ["ann", "Rome", "I don't know."]}
    return Drawn("easy_q", "ans_w_time", "7", Quiz.model_validate({**raw, "answer": "Ann", **more}))


def test_an_option_that_is_a_speaker_is_true_of_that_speaker():
    asked = put("q", quiz(), None, AT, 12, ["Ann", "Bo"])
    assert (asked.question, asked.answer, asked.category, asked.end) == ("Who?", 1, "ans_w_time", 12)
    assert asked.true_of == ("Ann", "", "") and asked.asked_at == AT and not asked.known


def test_a_question_is_put_in_the_words_of_the_one_who_asks_if_they_have_some():
    assert put("q", quiz(), "Bo", AT, 1, []).question == "Hey, who?"
    assert put("q", quiz(), "Cy", AT, 1, []).question == "Who?"


def test_an_option_that_says_that_there_is_no_telling_is_added_last():
    asked = put("q", quiz(options=["Ann", "Bo"]), None, AT, 1, [])
    assert asked.options == ("Ann", "Bo", "I don't know.") and len(asked.true_of) == 3


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"answer": "Dee"}, "its answer 'Dee' is none of its options"),
        ({"options": ["Ann", "ann"]}, "an option is there twice"),
    ],
)
def test_a_question_that_is_not_sound_has_a_reason(more: dict[str, Any], reason: str):
    asked = put("q", quiz(**more), None, AT, 1, [])
    assert asked.reason == reason and asked.answer is None
