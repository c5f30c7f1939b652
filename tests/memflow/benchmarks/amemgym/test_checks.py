"""Every check of AMemGym's rows passes on published and generated users, and fails on corrupted ones.

Corruptions that the reader rejects are in test_load.py.
"""

import copy
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from amemgym_agents import failed_checks, put, run_checks, tables
from amemgym_export import export_users

from memflow.benchmarks.amemgym.checks import EXPECTED
from memflow.benchmarks.registry import expectations
from memflow.checks.expectations import all_expectations

User = dict[str, Any]
World = dict[str, list[Any]]
Damage = Callable[[User], object]
BY_NAME = {each.name: each for each in expectations("amemgym")}


@pytest.fixture(params=["demo", "base"])
def made(request):
    return request.getfixturevalue(request.param)


def test_published_and_generated_users_pass_every_check(made):
    # With 48 probes, the demo's gold positions are not balanced.
    known = {"gold_option_positions_balanced"} if made.domain.name == "amemgym_demo" else set()
    assert failed_checks(made, [each for each in all_expectations() if each.table in tables(made)]) <= known


# Corruptions of a user in the published format. Each keeps everything else consistent, so far as it can.


def unchanged(user: User, period: int) -> str:
    """Return a variable that does not change in a period."""
    return next(name for name in user["state_schema"] if name not in user["periods"][period]["updates"])


def changed(user: User, period: int) -> str:
    return next(iter(user["periods"][period]["updates"]))


def another(user: User, name: str, value: str) -> str:
    return next(each for each in user["state_schema"][name] if each != value)


def exposing(user: User, name: str) -> dict[str, Any]:
    """Return the session of period 1 that exposes a variable."""
    return next(each for each in user["periods"][1]["sessions"] if name in each["exposed_states"])


def reached(user: User, question: dict[str, Any]) -> list[list[str]]:
    return [[period["state"][name] for name in question["required_info"]] for period in user["periods"]]


def unreached(user: User) -> dict[str, Any]:
    """Return an option of the first question for values that no period brings and that no option is for."""
    question = user["qas"][0]
    taken = [choice["state"] for choice in question["answer_choices"]]
    product = itertools.product(*(user["state_schema"][name] for name in question["required_info"]))
    state = next(list(each) for each in product if list(each) not in taken)
    return {"state": state, "answer": "Another way.", "type": "random"}


def choices(user: User) -> list[dict[str, Any]]:
    return user["qas"][0]["answer_choices"]


def value_outside_its_schema(user: User) -> None:
    name = changed(user, 1)
    values = user["state_schema"][name]
    values[values.index(user["periods"][1]["state"][name])] = "none_of_these"


def update_without_a_difference(user: User) -> None:
    name = unchanged(user, 1)
    value = user["periods"][1]["state"][name]
    put({"old": value, "new": value}, "periods", 1, "updates", name)(user)


def update_from_another_value(user: User) -> None:
    update = user["periods"][2]["updates"][changed(user, 2)]
    update["old"] = update["new"]


def period_ends_before_it_begins(user: User) -> None:
    user["periods"][1]["period_end"] = user["periods"][2]["period_start"] = "2020-09-30"


def state_is_not_exposed(user: User) -> None:
    name = changed(user, 1)
    del exposing(user, name)["exposed_states"][name]


def session_exposes_unchanged_value(user: User) -> None:
    name = unchanged(user, 1)
    put(user["periods"][1]["state"][name], "periods", 1, "sessions", 0, "exposed_states", name)(user)


def session_exposes_another_value(user: User) -> None:
    name = changed(user, 1)
    exposed = exposing(user, name)["exposed_states"]
    exposed[name] = another(user, name, exposed[name])


def sessions_are_interchanged(user: User) -> None:
    first, second = user["periods"][0]["sessions"][:2]
    first["session_time"], second["session_time"] = second["session_time"], first["session_time"]


def no_gold(user: User) -> None:
    gold = next(choice for choice in choices(user) if choice["type"] == "experience")
    gold.update(state=unreached(user)["state"], type="random")


def two_options_for_one_unreached_state(user: User) -> None:
    option = unreached(user)
    choices(user).extend([option, {**option, "answer": "A third way."}])


def gold_equals_another_option(user: User) -> None:
    for choice in choices(user):
        choice["answer"] = choices(user)[0]["answer"]


SESSION_TIME = ("periods", 1, "sessions", 0, "session_time")
CAUGHT: list[tuple[Damage, str]] = [
    (value_outside_its_schema, "new_value_in_choices_of_variable"),
    (update_without_a_difference, "new_value_differs_from_old_value"),
    (update_without_a_difference, "every_state_change_exposed_in_its_period"),
    (update_from_another_value, "old_value_equals_previous_value"),
    (period_ends_before_it_begins, "periods_are_consecutive"),
    (put("2020-10-02", "start_time"), "period_0_ends_on_start_date"),
    (state_is_not_exposed, "every_state_change_exposed_in_its_period"),
    (session_exposes_unchanged_value, "exposed_values_changed_in_period"),
    (session_exposes_another_value, "exposed_values_changed_in_period"),
    (sessions_are_interchanged, "sessions_in_time_order_within_period"),
    (
        put("2021-01-02 19:00:00", "periods", 1, "sessions", -1, "session_time"),
        "sessions_in_time_order_within_period",
    ),
    (put("in the evening", *SESSION_TIME), "sessions_in_time_order_within_period"),
    (
        lambda user: choices(user).append({**choices(user)[0], "answer": "Or rather this."}),
        "gold_is_only_option_matching_user_state",
    ),
    (no_gold, "gold_is_only_option_matching_user_state"),
    (no_gold, "gold_in_options"),
    (two_options_for_one_unreached_state, "options_have_distinct_states"),
    (gold_equals_another_option, "gold_in_options"),
]
"""Corruptions that block."""

WARNED: list[tuple[Damage, str]] = [
    (put({}, "periods", 1, "sessions", 0, "exposed_states"), "session_exposes_1_to_3_state_values"),
    (lambda user: user["qas"].pop(), "every_variable_used_by_a_question"),
    (
        lambda user: exposing(user, changed(user, 1)).update(event=None),
        "changes_after_period_0_have_event",
    ),
]
"""Corruptions that warn."""


@pytest.mark.parametrize(("damage", "name"), [*CAUGHT, *WARNED])
def test_corrupted_user_fails_expected_check_with_user_id(made, read_back, damage, name):
    _, user = users = copy.deepcopy(export_users(made.states, made.turns, made.probes)[:2])
    damage(user)
    back = read_back(users, made.domain)
    [expectation] = [each for each in all_expectations() if each.name == name]
    [outcome] = run_checks(back, [expectation])
    assert not outcome.passed
    assert outcome.severity == ("error" if (damage, name) in CAUGHT else "warn")
    assert outcome.offending and all(f"={user['id']}" in key for key in outcome.offending)


# Corruptions of rows that a file cannot have, but that generated rows could.

PROBES = "question.probes"


def first_variable_has_no_changes(world: World) -> None:
    lost = world["state.changes"][0].variable
    world["state.changes"] = [row for row in world["state.changes"] if row.variable != lost]


def period_is_lost(world: World) -> None:
    world["state.changes"] = [row for row in world["state.changes"] if row.period != 2]


def gold_is_another_option(world: World) -> None:
    probe = world[PROBES][0]
    world[PROBES][0] = replace(probe, gold="2" if probe.gold == "1" else "1")


ROWS: list[tuple[Callable[[World], object], str]] = [
    (first_variable_has_no_changes, "every_variable_has_a_value"),
    (period_is_lost, "periods_are_consecutive"),
    (gold_is_another_option, "gold_is_only_option_matching_user_state"),
]


@pytest.mark.parametrize(("damage", "name"), ROWS)
def test_corrupted_table_rows_fail_expected_check(demo, damage, name):
    world = {table: list(rows) for table, rows in tables(demo).items()}
    damage(world)
    [outcome] = run_checks(demo, [BY_NAME[name]], world)
    assert (outcome.passed, outcome.severity) == (False, "error")
    assert outcome.offending


def test_every_amemgym_check_has_a_corruption_test():
    elsewhere = ("gold_equals_answer_from_", "generated_messages_state_only_")  # in test_examiner.py
    here = {name for name in BY_NAME if not name.startswith(elsewhere)}
    assert {name for _, name in (*CAUGHT, *WARNED, *ROWS)} >= here


def test_tables_without_states_pass_every_check(demo):
    world = {**tables(demo), "state.profiles": [], "state.variables": [], "state.changes": []}
    plain = [replace(turn, exposes=None, sent_at=None) for turn in demo.turns]
    asked = [replace(probe, variants=[], variables=[]) for probe in demo.of_kind("choice")]
    world |= {"utterance.turns": plain, "question.probes": asked}
    assert failed_checks(demo, EXPECTED, world) == set()
