"""The scripted chat: a handler for every prompt, and parsing of statements."""

import re

import pytest
from hypothesis import strategies as st

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.wording import JUDGE, PACKAGE, SIMULATOR, bilingual_prompts, prompt
from memflow.benchmarks.registry import find_domain
from memflow.chat.prompts import all_prompts

LEVELS = ["first_steps", "some_practice", "practice"]


def test_amemgym_declares_every_simulator_prompt_and_judge_prompt():
    asked = {prompt.name.partition("/")[2].removesuffix("_zh") for prompt in all_prompts(PACKAGE)}
    assert asked - {*SIMULATOR, *JUDGE} == {
        f"{stem}{how}" for stem in ("choice", "state") for how in ("", "_with_notes", "_told")
    } | {"reply", "reply_with_notes"}
    assert [prompt.name for prompt in AMemGym().simulator_prompts()] == [
        f"amemgym/{stem}{how}" for how in ("", "_zh") for stem in SIMULATOR
    ]
    judged = AMemGym().judge_prompts(find_domain("amemgym_demo"), "score.claims")
    assert [prompt.name for prompt in judged] == [f"amemgym/{stem}" for stem in JUDGE]
    assert AMemGym().judge_prompts(find_domain("amemgym_demo"), "score.verdicts") == []


@pytest.mark.parametrize("stem", sorted(bilingual_prompts()))
def test_chinese_prompt_has_same_fields_output_and_limits_as_english_prompt(stem):
    english, chinese = prompt(stem), prompt(stem, language="zh")
    assert (chinese.name, chinese.language) == (f"{english.name}_zh", "zh")
    for what in ("fields", "output", "max_tokens", "temperature"):
        assert getattr(chinese, what) == getattr(english, what), what
    assert [role for role, _ in chinese.sections] == [role for role, _ in english.sections]
    assert re.search("[\u4e00-\u9fff]", chinese.sections[0][1] or chinese.sections[1][1])


STATEMENTS = st.sampled_from(
    [
        "my sewing level is first steps",
        "Cooking_level: practice",
        "level",
        "some practice",
        "",
        " sewing  level",
    ]
)


OPTIONS = [
    "Since your sewing level is first steps and your sewing budget is moderate, choose.",
    "Since your sewing level is first steps and your sewing budget is generous, choose.",
    "Since your sewing level is practice and your sewing budget is generous, choose.",
]
