"""Accuracy of the scripted reader on reflective questions and recommendations of 8 generated users."""

import asyncio
from functools import cache

import pytest
from membench_generation import Made, make

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.question import build_question
from memflow.benchmarks.membench.scripted import HANDLERS
from memflow.benchmarks.membench.turns import scenario_of
from memflow.benchmarks.multiple_choice import Choice, number_of
from memflow.chat.asking import ask
from memflow.chat.requests import ChatMessage
from memflow.chat.scripted import ScriptedChat
from memflow.memories.memory import Recall
from memflow.metrics.intervals import Units, proportion_interval

KINDS_HERE = ("lowlevel_rec", "rec_multi_session", "highlevel", "highlevel_rec")
CHAT = ScriptedChat(HANDLERS)
SCENES = ("participation", "observation")


@cache
def made(scene: str, language: str) -> Made:
    """Return a domain of 8 users with a trajectory of each kind and scenario."""
    parameters = {"graphs": 8, "scene": scene, "language": language, "kinds": KINDS_HERE}
    return make(Domain("made", "membench", (f"lives_{language}",), "made", parameters))


everywhere = pytest.mark.parametrize(
    ("scene", "language"), [(scene, language) for scene in SCENES for language in ("en", "zh")]
)


@cache
def accuracy(scene: str, language: str, shown: bool) -> dict[str, list[float]]:
    """Return 1 or 0 per answer of the scripted reader, by kind or `mood`, with the full history or none."""
    generated = made(scene, language)

    async def right(probe) -> float:
        said = [turn for turn in generated.turns if turn.episode_id == probe.episode_id] if shown else []
        recall = Recall(messages=tuple(ChatMessage(turn.role, turn.text) for turn in said))
        question = build_question(probe, recall, None)
        answer = await ask(CHAT, question.prompt, question.fields, recall.messages)
        assert isinstance(answer.value, Choice)
        return float(number_of(answer.value) == probe.gold)

    async def walk():
        return await asyncio.gather(*map(right, generated.probes))

    found: dict[str, list[float]] = {}
    for probe, value in zip(generated.probes, asyncio.run(walk()), strict=True):
        name = "mood" if scenario_of(probe.episode_id) == "emotion" else str(probe.category)
        found.setdefault(name, []).append(value)
    return found


def interval_contains_chance(values: list[float]) -> bool:
    interval = proportion_interval(Units.of_episodes(values, [1] * len(values)))
    return interval.low is not None and interval.low <= 0.25 <= (interval.high or 0)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_scripted_reader_answers_recommendation_questions_from_evidence(language):
    found = accuracy("participation", language, True)
    for kind in ("lowlevel_rec", "rec_multi_session"):
        assert sum(found[kind]) / len(found[kind]) > 0.95


@everywhere
def test_accuracy_of_scripted_reader_is_at_chance_without_context(scene, language):
    assert interval_contains_chance(
        [value for values in accuracy(scene, language, False).values() for value in values]
    )


@everywhere
def test_accuracy_of_scripted_reader_on_mood_questions_is_at_chance(scene, language):
    assert interval_contains_chance(accuracy(scene, language, True)["mood"])
