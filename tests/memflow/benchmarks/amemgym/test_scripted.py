"""The scripted chat: it has a handler for every prompt, and reads no more than what is said."""

import pytest

from memflow.benchmarks.amemgym import AMemGym
from memflow.benchmarks.amemgym.reading import best_options, last_stated, statements
from memflow.benchmarks.amemgym.wording import JUDGE, SIMULATOR
from memflow.chat.prompts import all_prompts

LEVELS = ["first_steps", "some_practice", "practice"]


def test_every_prompt_has_a_handler_and_every_handler_a_prompt():
    assert set(AMemGym().handlers()) == {prompt.name for prompt in all_prompts("memflow.benchmarks.amemgym")}


def test_the_simulator_prompts_are_those_that_no_assistant_is_asked_with():
    asked = {prompt.name.partition("/")[2] for prompt in all_prompts("memflow.benchmarks.amemgym")}
    assert asked - {*SIMULATOR, *JUDGE} == {
        f"{stem}{how}" for stem in ("choice", "state") for how in ("", "_with_notes", "_told")
    } | {"reply", "reply_with_notes"}
    assert [prompt.name for prompt in AMemGym().simulator_prompts()] == [
        f"amemgym/{stem}" for stem in SIMULATOR
    ]
    assert [prompt.name for prompt in AMemGym().judge_prompts()] == [f"amemgym/{stem}" for stem in JUDGE]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("These days my sewing level is first steps.", "first_steps"),
        ("With me, first steps it is now as to my sewing level.", "first_steps"),
        ("My sewing level is no longer first steps but some practice.", "some_practice"),
        ("My sewing level is first steps. Later: my sewing level is practice.", "practice"),
        ('{\n "sewing_level": "some_practice"\n}', "some_practice"),
        ("My sewing level is some practice. My cooking level is first steps.", "some_practice"),
        ("My sewing level? First steps.", None),
        ("My sewing levels are first steps.", None),
        ("", None),
    ],
)
def test_the_latest_statement_of_a_value_counts(text, value):
    assert last_stated(text, "sewing_level", LEVELS) == value


OPTIONS = [
    "Since your sewing level is first steps and your sewing budget is moderate, choose.",
    "Since your sewing level is first steps and your sewing budget is generous, choose.",
    "Since your sewing level is practice and your sewing budget is generous, choose.",
]


def test_the_option_with_most_that_is_stated_is_the_best():
    assert statements(OPTIONS[0]) == {"sewing level": "first steps", "sewing budget": "moderate"}
    assert best_options("My sewing level is practice. My sewing budget is generous.", OPTIONS) == [2]
    assert best_options("My sewing budget is generous.", OPTIONS) == [1, 2]
    assert best_options("Nothing of the kind.", OPTIONS) == [0, 1, 2]
    assert best_options("Nothing of the kind.", ["Do this.", "Do that."]) == [0, 1]
