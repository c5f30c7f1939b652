"""The mood that a question asks for is independent of the event in the question, and predictable moods are found."""

import random
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from membench_generation import make, preference_task

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.examination.predictability import SIGNIFICANCE, predictable_answers
from memflow.benchmarks.membench.generation.emotion_plans import emotion_templates
from memflow.benchmarks.membench.generation.preference_plans import plan_preference

LANGUAGES = ("en", "zh")


def questions(language: str, users: int = 40):
    parameters = {"graphs": users, "scene": "observation", "language": language, "scenarios": ("emotion",)}
    return make(Domain("made", "membench", (f"lives_{language}",), "made", parameters)).probes


@pytest.mark.parametrize("language", LANGUAGES)
def test_moods_of_generated_questions_are_not_predictable_from_their_words(language):
    share, probability = predictable_answers(questions(language))
    assert share < 0.45 and probability > 0.01


@pytest.mark.parametrize("language", LANGUAGES)
def test_predictability_test_detects_moods_that_depend_on_the_event(language):
    templates = emotion_templates(language)
    moods = [mood.mood for mood in templates.moods]
    rng = random.Random(1)
    planted = []
    for probe in questions(language):
        own = moods.index(probe.revealed) % len(templates.happenings)
        question = templates.asked.replace("$happening", templates.happenings[own])
        others = rng.sample([mood for mood in moods if mood != probe.revealed], 3)
        planted.append(replace(probe, question=question, options=[probe.revealed, *others]))
    share, probability = predictable_answers(planted)
    assert share > 0.8 and probability < SIGNIFICANCE


@pytest.mark.parametrize("language", LANGUAGES)
def test_sampled_events_and_moods_are_independent_and_answers_uniform_among_options(language):
    moods = defaultdict(Counter)
    places = Counter()
    count = 3000
    for seed in range(count):
        query = plan_preference(preference_task("highlevel", "emotion", language, seed)).query
        moods[query.required_words[0]][query.answer] += 1
        places[sorted([query.answer, *query.wrong]).index(query.answer)] += 1
    templates = emotion_templates(language)
    assert set(moods) == set(templates.happenings)
    assert all(set(found) == {mood.mood for mood in templates.moods} for found in moods.values())
    overall = sum(moods.values(), Counter())
    chi_square = sum(
        (found[mood] - sum(found.values()) * overall[mood] / count) ** 2
        / (sum(found.values()) * overall[mood] / count)
        for found in moods.values()
        for mood in overall
    )
    assert chi_square < 148.2  # 99 degrees of freedom, p = 0.001
    assert sum((places[at] - count / 4) ** 2 / (count / 4) for at in range(4)) < 16.27  # 3 degrees of freedom


def test_predictable_answers_returns_share_0_and_probability_1_without_questions():
    assert predictable_answers([]) == (0.0, 1.0)
