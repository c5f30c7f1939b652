"""Generated domains with 3 users: every question kind, uniform gold positions, and all checks pass."""

from collections import Counter
from dataclasses import replace

import pytest
from bounded_types import assert_bounded
from membench_generation import Made, make

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.answers import (
    ToldMessage,
    ToldRound,
    distractors_of,
    messages_of,
    rounds_of,
)
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.generation.planning import planned_kinds
from memflow.benchmarks.membench.kinds import SCENES
from memflow.benchmarks.registry import find_domain
from memflow.checks.evaluation import check_rows
from memflow.checks.expectations import all_expectations

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


def test_gold_positions_of_generated_probes_are_uniform(made):
    places = Counter(probe.gold for probe in made.probes)
    expected = len(made.probes) / 4
    chi_square = sum((places[place] - expected) ** 2 / expected for place in "1234")
    assert chi_square < 16.27  # 3 degrees of freedom, p = 0.001


def test_rows_of_generated_domain_pass_all_checks(made):
    world = {
        "raw.records": made.records,
        "state.profiles": made.states.profiles,
        "state.entities": made.states.entities,
        "state.variables": [],
        "state.changes": [],
        "utterance.turns": made.turns,
        "question.probes": made.probes,
    }
    for table in ("state.entities", "utterance.turns", "question.probes"):
        expected = [each for each in all_expectations() if each.table == table]
        outcomes = check_rows(table, world[table], expected, world.__getitem__, made.domain)
        assert [outcome.name for outcome in outcomes if not outcome.passed] == []


def test_generated_rows_are_equal_for_same_seed_and_differ_for_other_seed():
    domain = find_domain("membench_demo")
    one, again, other = make(domain), make(domain), make(replace(domain, seed=7))
    assert (one.turns, one.probes) == (again.turns, again.probes)
    assert [turn.text for turn in one.turns] != [turn.text for turn in other.turns]


def test_limited_domain_generates_probes_of_first_users_only():
    domain = find_domain("membench_demo")
    whole, first = make(domain), make(domain.limited(1))
    assert first.probes == [
        replace(probe, domain="membench_demo~1")
        for probe in whole.probes
        if probe.episode_id.startswith("u0000/")
    ]


@pytest.mark.parametrize(
    "output",
    [rounds_of(40), messages_of(20), distractors_of(3), ToldRound, ToldMessage],
    ids=lambda output: output.__name__,
)
def test_simulator_output_types_are_bounded(output):
    assert_bounded(output)
