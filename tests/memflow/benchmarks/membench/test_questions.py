"""Requests of probes: prompt, query of the memory, and allowed answers."""

import factories
import pytest

from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.question import build_question
from memflow.benchmarks.multiple_choice import number_of
from memflow.chat.asking import ask
from memflow.chat.scripted import ScriptedChat
from memflow.memories.memory import Recall
from memflow.records import Probe


def probe(language: str = "en") -> Probe:
    return factories.probe(
        episode_id="observation/simple/roles/0", language=language, asked_at="'2024-10-03 08:00' Thursday",
        question="How tall is Ann?", options=["160 cm", "161 cm", "172 cm", "163 cm"], gold="3", revealed="172 cm",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("language", "recall", "gold_context", "name"),
    [
        ("en", Recall(), None, "membench/choice"),
        ("en", Recall(notes="Ann is 172 cm tall."), None, "membench/choice_with_notes"),
        ("en", Recall(), "172 cm", "membench/choice_told"),
        ("zh", Recall(), None, "membench/choice_zh"),
        ("zh", Recall(notes="Ann: 172 cm"), None, "membench/choice_with_notes_zh"),
        ("zh", Recall(), "172 cm", "membench/choice_told_zh"),
    ],
)
async def test_answer_prompt_depends_on_language_notes_and_gold_context(language, recall, gold_context, name):
    question = build_question(probe(language), recall, gold_context)
    assert question.prompt.name == name
    assert question.query == "How tall is Ann? ('2024-10-03 08:00' Thursday)"
    answer = await ask(ScriptedChat(MemBench().handlers()), question.prompt, question.fields)
    assert 1 <= int(number_of(answer.value)) <= 4
    if gold_context or recall.notes:
        assert number_of(answer.value) == "3"
