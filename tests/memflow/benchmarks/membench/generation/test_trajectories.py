"""Generated domains with 3 users: every question kind, uniform gold positions, and all checks pass."""

from collections import Counter
from dataclasses import replace

import pytest
from membench_generation import Made, make

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.generation.planning import planned_kinds
from memflow.benchmarks.membench.kinds import SCENES
from memflow.benchmarks.membench.wording import parse_time
from memflow.benchmarks.registry import find_domain

BRIEF = {"role_rounds": 2, "event_rounds": 2}
"""Nothing here depends on how long one talks."""
USERS = 3


@pytest.fixture(scope="module", params=[(scene, language) for scene in SCENES for language in ("en", "zh")])
def made(request) -> Made:
    scene, language = request.param
    parameters = {"scene": scene, "language": language, "graphs": USERS, **BRIEF}
    return make(Domain("made", "membench", (f"lives_{language}",), "A test's own", parameters))


def test_every_generated_user_has_a_question_of_every_kind_and_scenario(made):
    asked = Counter((probe.category, probe.episode_id.split("/")[-2]) for probe in made.probes)
    assert asked == {
        (kind.name, scenario): USERS for kind, scenario in planned_kinds(parameters_of(made.domain))
    }
    assert not [row.reason for row in (*made.turns, *made.probes) if row.reason]


def test_generated_steps_follow_each_other_in_time_and_questions_come_last(made):
    for probe in made.probes:
        turns = [turn for turn in made.turns if turn.episode_id == probe.episode_id]
        times = {turn.event: parse_time(turn.sent_at) for turn in turns}
        assert list(times.values()) == sorted(set(times.values()))
        assert parse_time(probe.asked_at) > times[max(times)]
        assert probe.evidence == [turn.message_id for turn in turns if turn.exposes is not None]


def test_gold_positions_of_generated_probes_are_uniform(made):
    places = Counter(probe.gold for probe in made.probes)
    expected = len(made.probes) / 4
    chi_square = sum((places[place] - expected) ** 2 / expected for place in "1234")
    assert chi_square < 16.27  # 3 degrees of freedom, p = 0.001


def test_generated_rows_are_equal_for_same_seed_and_differ_for_other_seed():
    domain = find_domain("membench_demo")
    one, again, other = make(domain), make(domain), make(replace(domain, seed=7))
    assert (one.turns, one.probes) == (again.turns, again.probes)
    assert [turn.text for turn in one.turns] != [turn.text for turn in other.turns]
