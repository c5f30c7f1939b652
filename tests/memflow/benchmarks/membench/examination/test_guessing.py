"""A guesser that learns from the questions of other users is at chance, and finds planted give-aways."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from learned_guesser import NaiveBayes, features_with_ranks
from membench_generation import make
from scipy.stats import binom

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.generation.emotion_plans import emotion_templates
from memflow.records import Probe

LANGUAGES = ("en", "zh")


def generate(users: int, language: str, **parameters: object) -> list[Probe]:
    values = {"graphs": users, "language": language, "role_rounds": 2, "event_rounds": 2, **parameters}
    return make(Domain("made", "membench", (f"lives_{language}",), "made", values)).probes


def is_at_chance(probes: Sequence[Probe]) -> bool:
    """Return whether a guesser that learns from the first half of the users is at chance on the others."""
    half = sorted({probe.episode_id.partition("/")[0] for probe in probes})
    learned = [probe for probe in probes if probe.episode_id < half[len(half) // 2]]
    guesser, others = NaiveBayes(learned, features_with_ranks), probes[len(learned) :]
    low, high = binom.interval(0.99, len(others), 1 / len(others[0].options))
    return bool(low <= sum(guesser.guess(probe) == probe.gold for probe in others) <= high)


@pytest.mark.parametrize("scene", ["observation", "participation"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_guesser_is_at_chance_on_generated_questions_and_finds_longer_right_options(scene, language):
    probes = generate(8, language, scene=scene)
    assert is_at_chance(probes)
    planted = [
        replace(
            probe,
            options=[
                f"{option}, as was said" if str(at) == probe.gold else option
                for at, option in enumerate(probe.options, 1)
            ],
        )
        for probe in probes
    ]
    assert not is_at_chance(planted)


@pytest.mark.parametrize("language", LANGUAGES)
def test_guesser_is_at_chance_on_moods_unless_they_depend_on_the_event(language):
    probes = generate(40, language, scene="observation", scenarios=("emotion",))
    assert is_at_chance(probes)
    templates = emotion_templates(language)
    moods = [mood.mood for mood in templates.moods]
    planted = []
    for probe in probes:
        happening = templates.happenings[moods.index(probe.revealed) % len(templates.happenings)]
        planted.append(replace(probe, question=templates.asked.replace("$happening", happening)))
    assert not is_at_chance(planted)
