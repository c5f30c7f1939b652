"""The mood that a question asks for is independent of the event in the question, and predictable moods are found."""

import random
from dataclasses import replace

import pytest
from learned_guesser import NaiveBayes
from membench_generation import make
from scipy.stats import binom

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.examination.predictability import (
    SIGNIFICANCE,
    predictable_answers,
    predictable_options,
)
from memflow.benchmarks.membench.generation.emotion_plans import emotion_templates

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


def test_probability_is_that_of_the_binomial_distribution_for_any_number_of_questions():
    probe = replace(questions("en", 1)[0], options=["yes", "no"], gold="1", revealed="yes")
    other = replace(probe, options=["no", "yes"], gold="2")
    share, probability = predictable_options([probe, other] * 2)
    assert (share, probability) == (1.0, pytest.approx(0.5**4))
    assert predictable_options([probe, other] * 2000) == (1.0, pytest.approx(0.0))


@pytest.mark.parametrize("scene", ["observation", "participation"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_learned_guesser_is_at_chance_on_the_questions_of_other_users(scene, language):
    parameters = {"graphs": 8, "scene": scene, "language": language, "role_rounds": 2, "event_rounds": 2}
    probes = make(Domain("made", "membench", (f"lives_{language}",), "made", parameters)).probes
    half = [probe for probe in probes if probe.episode_id < "u0004"]
    guesser, others = NaiveBayes(half), probes[len(half) :]
    low, high = binom.interval(0.99, len(others), 1 / len(others[0].options))
    assert low <= sum(guesser.guess(probe) == probe.gold for probe in others) <= high
