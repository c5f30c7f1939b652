"""How a question is put: in which prompt, with what a memory is read, and what the answer may be."""

import json

import pytest

from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.question import put
from memflow.benchmarks.membench.wording import stamped, written
from memflow.benchmarks.multiple_choice import choice_of, number_of
from memflow.chat.asking import ask
from memflow.chat.bounds import assert_bounded
from memflow.chat.scripted import ScriptedChat
from memflow.memories.memory import Recall
from memflow.records import Probe


def probe(language: str = "en") -> Probe:
    return Probe(
        domain="d",
        probe_id="p",
        episode_id="observation/simple/roles/0",
        checkpoint=0,
        kind="choice",
        dataset="d",
        category="simple",
        language=language,
        asked_at="'2024-10-03 08:00' Thursday",
        metric="accuracy",
        question="How tall is Ann?",
        options=["160 cm", "161 cm", "172 cm", "163 cm"],
        variables=[],
        gold="3",
        revealed="172 cm",
        evidence=[],
    )


@pytest.mark.parametrize(
    ("language", "recall", "told", "name"),
    [
        ("en", Recall(), None, "membench/choice"),
        ("en", Recall(notes="Ann is 172 cm tall."), None, "membench/choice_with_notes"),
        ("en", Recall(), "172 cm", "membench/choice_told"),
        ("zh", Recall(), None, "membench/choice_zh"),
        ("zh", Recall(notes="Ann: 172 cm"), None, "membench/choice_with_notes_zh"),
        ("zh", Recall(), "172 cm", "membench/choice_told_zh"),
    ],
)
async def test_it_is_put_in_the_prompt_that_fits(language, recall, told, name):
    question = put(probe(language), recall, told)
    assert question.prompt.name == name
    assert question.query == "How tall is Ann? ('2024-10-03 08:00' Thursday)"
    answer = await ask(ScriptedChat(MemBench().handlers()), question.prompt, question.fields)
    assert 1 <= int(number_of(answer.value)) <= 4
    if told or recall.notes:
        assert number_of(answer.value) == "3"


def test_an_answer_is_a_letter_that_an_option_has():
    assert_bounded(choice_of(4))
    assert number_of(choice_of(4).model_validate_json('{"choice": "D"}')) == "4"
    with pytest.raises(ValueError, match="Input should be"):
        choice_of(4).model_validate_json('{"choice": "E"}')
    schema = json.dumps(choice_of(4).model_json_schema())
    assert '"enum": ["A", "B", "C", "D"]' in schema


def test_a_message_says_where_and_when_it_was_said():
    from datetime import datetime

    moment = datetime(2024, 10, 1, 8, 13)
    assert written(moment) == "'2024-10-01 08:13' Tuesday"
    assert written(moment, "zh") == "2024年10月01日 周二 08:13"
    assert stamped("Hello.", "Boston, MA", written(moment)) == (
        "Hello. (place: Boston, MA; time: '2024-10-01 08:13' Tuesday)"
    )
