"""The scripted chat: a handler for every prompt, and parsing of statements."""

import asyncio
import json
import re

import pytest
from hypothesis import strategies as st

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.scripted_reading import (
    last_stated,
)
from memflow.benchmarks.amemgym.wording import JUDGE, PACKAGE, SIMULATOR, bilingual_prompts, prompt
from memflow.benchmarks.registry import find_domain
from memflow.chat.asking import ask
from memflow.chat.prompts import all_prompts
from memflow.chat.scripted import ScriptedChat
from memflow.memories.memory import Recall

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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("最近我的缝纫水平是刚刚入门。你有什么建议？", "刚刚入门"),
        ("我的缝纫水平不再是刚刚入门，而是略有练习。", "略有练习"),
        ("我的缝纫水平是刚刚入门。我的做饭水平是略有练习。", "刚刚入门"),
        ("我的缝纫水平？刚刚入门。", None),
        ("我的水平是刚刚入门。", None),
    ],
)
def test_scripted_parser_returns_latest_value_of_chinese_statements(text, value):
    assert last_stated(text, "缝纫水平", ["刚刚入门", "略有练习", "入门"]) == value


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


async def test_oracle_answers_every_probe_of_chinese_users_correctly(package, making):
    made = await asyncio.to_thread(making, find_domain("amemgym_demo_zh"), package)
    assert [row.reason for row in (*made.states.profiles, *made.turns, *made.probes) if row.reason] == []
    chat = ScriptedChat(AMemGym().handlers())
    for probe in made.probes:
        assert probe.language == "zh"
        if probe.kind == "choice":
            assert re.search("[\u4e00-\u9fff]", probe.question)
        question = AMemGym().question(made.domain, probe, Recall(), probe.revealed)
        assert question.prompt.name == f"amemgym/{probe.kind}_told_zh"
        answer = await ask(chat, question.prompt, question.fields)
        said = AMemGym().parse(probe, answer.value)
        assert (said if probe.kind == "choice" else json.loads(said)) == (
            probe.gold if probe.kind == "choice" else json.loads(probe.gold)
        )
    for turn in made.turns:
        told, _, text = turn.text.partition("\n")
        assert told == f"[Current Time: {turn.sent_at}]"
        assert not re.search("[A-Za-z]", text)
