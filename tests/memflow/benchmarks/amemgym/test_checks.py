"""Every check of AMemGym's rows passes on published and generated users, and fails on corrupted ones.

A corruption is refused by the reader or found by the named check.
"""

import copy
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memflow.benchmarks.amemgym.checks import EXPECTED
from memflow.benchmarks.amemgym.export import export_users
from memflow.checks.evaluation import RuleResult, check_rows
from memflow.checks.expectations import all_expectations
from memflow.checks.rules import Expectation
from memflow.errors import BadInput

User = dict[str, Any]
BY_NAME = {each.name: each for each in EXPECTED}
TABLES = ("state.profiles", "state.variables", "state.changes", "utterance.turns", "question.probes")


def tables(made) -> dict[str, Any]:
    rows = (made.states.profiles, made.states.variables, made.states.changes, made.turns, made.probes)
    return {"raw.records": made.records, **dict(zip(TABLES, rows, strict=True))}


def outcomes_of(
    made, expectations: list[Expectation], world: dict[str, Any] | None = None
) -> list[RuleResult]:
    world = world or tables(made)
    [table] = {each.table for each in expectations}
    return check_rows(table, world[table], expectations, world.__getitem__, made.domain)


@pytest.fixture(params=["demo", "base"])
def made(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("table", TABLES)
def test_valid_users_pass_every_check(made, table):
    outcomes = outcomes_of(made, [each for each in all_expectations() if each.table == table])
    failed = [outcome.name for outcome in outcomes if not outcome.passed]
    # Four options in an order of chance, 48 times: the demo's gold does not stand at every place alike.
    assert failed == (["gold_position_balanced"] if failed else [])
    assert made.domain.name == "amemgym_demo" or failed == []


# Damages to a user in the published format. Each keeps all else as it is, so far as it can.


def unchanged(user: User, period: int) -> str:
    """A variable that does not change in a period."""
    return next(name for name in user["state_schema"] if name not in user["periods"][period]["updates"])


def moved(user: User, period: int) -> str:
    return next(iter(user["periods"][period]["updates"]))


def another(user: User, name: str, value: str) -> str:
    return next(each for each in user["state_schema"][name] if each != value)


def telling(user: User, period: int, name: str) -> dict[str, Any]:
    """The session of a period that tells a variable."""
    return next(each for each in user["periods"][period]["sessions"] if name in each["exposed_states"])


def lived(user: User, question: dict[str, Any]) -> list[list[str]]:
    return [[period["state"][name] for name in question["required_info"]] for period in user["periods"]]


def never_lived(user: User, question: dict[str, Any]) -> list[str]:
    """Values that no period brings and that no option is for."""
    taken = [choice["state"] for choice in question["answer_choices"]]
    product = itertools.product(*(user["state_schema"][name] for name in question["required_info"]))
    return next(list(each) for each in product if list(each) not in taken)


def state_moves_without_an_update(user: User) -> None:
    name = unchanged(user, 1)
    state = user["periods"][1]["state"]
    state[name] = another(user, name, state[name])


def update_is_left_out(user: User) -> None:
    del user["periods"][1]["updates"][moved(user, 1)]


def state_is_not_whole(user: User) -> None:
    del user["periods"][1]["state"][unchanged(user, 1)]


def variable_has_no_first_value(user: User) -> None:
    del user["periods"][0]["updates"][moved(user, 0)]


def question_needs_what_is_not_there(user: User) -> None:
    user["qas"][0]["required_info"][0] = "weather"


def option_is_for_too_little(user: User) -> None:
    user["qas"][0]["answer_choices"][0]["state"].pop()


def lived_option_is_called_random(user: User) -> None:
    user["qas"][0]["answer_choices"][0]["type"] = "random"


def unlived_option_is_called_experience(user: User) -> None:
    question = user["qas"][0]
    choice = {"state": never_lived(user, question), "answer": "Another way.", "type": "experience"}
    question["answer_choices"].append(choice)


def period_begins_another_day(user: User) -> None:
    user["periods"][1]["period_start"] = "2020-10-02"


REFUSED: dict[Callable[[User], None], str] = {
    state_moves_without_an_update: r"periods\.1\.state\.\w+: it is '.*', but the updates so far give",
    update_is_left_out: r"periods\.1\.state\.\w+: it is '.*', but the updates so far give",
    state_is_not_whole: r"periods\.1\.state: its variables differ from state_schema",
    variable_has_no_first_value: r"periods\.0\.state\.\w+: it is '.*', but the updates .* give None",
    question_needs_what_is_not_there: r"qas\.0: required_info names 'weather', which state_schema lacks",
    option_is_for_too_little: r"qas\.0\.answer_choices\.0\.state: it needs one value per variable of required_info",
    lived_option_is_called_random: r"answer_choices\.0\.type: it is random, but some period has its state",
    unlived_option_is_called_experience: r"answer_choices\.\d+\.type: it is experience, but no period has its",
    period_begins_another_day: r"periods\.1\.period_start: it is not the end of the previous period",
}


def value_outside_its_schema(user: User) -> None:
    name = moved(user, 1)
    values = user["state_schema"][name]
    values[values.index(user["periods"][1]["state"][name])] = "none_of_these"


def update_without_a_difference(user: User) -> None:
    name = unchanged(user, 1)
    value = user["periods"][1]["state"][name]
    user["periods"][1]["updates"][name] = {"old": value, "new": value}


def update_from_another_value(user: User) -> None:
    update = user["periods"][2]["updates"][moved(user, 2)]
    update["old"] = update["new"]


def update_from_nothing(user: User) -> None:
    user["periods"][1]["updates"][moved(user, 1)]["old"] = None


def first_value_after_another(user: User) -> None:
    name = moved(user, 0)
    user["periods"][0]["updates"][name]["old"] = another(user, name, user["periods"][0]["state"][name])


def period_ends_before_it_begins(user: User) -> None:
    user["periods"][1]["period_end"] = user["periods"][2]["period_start"] = "2020-09-30"


def user_starts_another_day(user: User) -> None:
    user["start_time"] = "2020-10-02"


def state_is_not_exposed(user: User) -> None:
    name = moved(user, 1)
    del telling(user, 1, name)["exposed_states"][name]


def session_exposes_what_did_not_change(user: User) -> None:
    name = unchanged(user, 1)
    period = user["periods"][1]
    period["sessions"][0]["exposed_states"][name] = period["state"][name]


def session_exposes_another_value(user: User) -> None:
    name = moved(user, 1)
    told = telling(user, 1, name)["exposed_states"]
    told[name] = another(user, name, told[name])


def session_exposes_nothing(user: User) -> None:
    user["periods"][1]["sessions"][0]["exposed_states"] = {}


def sessions_are_interchanged(user: User) -> None:
    first, second = user["periods"][0]["sessions"][:2]
    first["session_time"], second["session_time"] = second["session_time"], first["session_time"]


def session_after_its_period(user: User) -> None:
    user["periods"][1]["sessions"][-1]["session_time"] = "2021-01-02 19:00:00"


def session_before_its_period(user: User) -> None:
    user["periods"][1]["sessions"][0]["session_time"] = "2020-10-01 22:00:00"


def session_without_a_time(user: User) -> None:
    user["periods"][1]["sessions"][0]["session_time"] = "in the evening"


def session_on_an_earlier_day(user: User) -> None:
    session = user["periods"][1]["sessions"][0]
    session["session_time"] = "2020-12-01" + session["session_time"][10:]


def session_at_noon(user: User) -> None:
    session = user["periods"][1]["sessions"][0]
    session["session_time"] = session["session_time"][:10] + " 12:00:00"


def sessions_expose_all_again(user: User) -> None:
    for period in user["periods"]:
        for session in period["sessions"]:
            session["exposed_states"] = {name: period["state"][name] for name in period["updates"]}


def two_golds(user: User) -> None:
    choices = user["qas"][0]["answer_choices"]
    choices.append({**choices[0], "answer": "Or rather this."})


def no_gold(user: User) -> None:
    question = user["qas"][0]
    first = next(choice for choice in question["answer_choices"] if choice["type"] == "experience")
    first.update(state=never_lived(user, question), type="random")


def option_outside_the_schema(user: User) -> None:
    question = user["qas"][0]
    state = ["none_of_these" for _ in question["required_info"]]
    question["answer_choices"].append({"state": state, "answer": "Another way.", "type": "random"})


def two_options_for_one_state_that_never_comes(user: User) -> None:
    question = user["qas"][0]
    for answer in ("One way.", "Another way."):
        choice = {"state": never_lived(user, question), "answer": answer, "type": "random"}
        question["answer_choices"].append(choice)
        question["answer_choices"].append({**choice, "answer": f"{answer} Or so."})


def gold_says_what_another_option_says(user: User) -> None:
    choices = user["qas"][0]["answer_choices"]
    for choice in choices:
        choice["answer"] = choices[0]["answer"]


def unlived_option_stands_first(user: User) -> None:
    question = user["qas"][0]
    choice = {"state": never_lived(user, question), "answer": "Another way.", "type": "random"}
    question["answer_choices"].insert(0, choice)


def more_options_than_needed(user: User) -> None:
    question = user["qas"][0]
    choice = {"state": never_lived(user, question), "answer": "Another way.", "type": "random"}
    question["answer_choices"].append(choice)


def question_is_left_out(user: User) -> None:
    user["qas"].pop()


def question_needs_one_variable(user: User) -> None:
    question = user["qas"][0]
    question["required_info"].pop()
    kept = {}
    for choice in question["answer_choices"]:
        choice["state"].pop()
        kept.setdefault(choice["state"][0], choice)["type"] = "random"
    for choice in kept.values():
        if choice["state"] in lived(user, question):
            choice["type"] = "experience"
    question["answer_choices"] = list(kept.values())


def variable_may_have_one_value_more(user: User) -> None:
    user["state_schema"][moved(user, 0)].append("one_more")


def event_is_left_out(user: User) -> None:
    telling(user, 1, moved(user, 1))["event"] = None


def many_updates_in_one_period(user: User) -> None:
    period = user["periods"][-1]
    for name in user["state_schema"]:
        if name not in period["updates"]:
            old = period["state"][name]
            new = another(user, name, old)
            period["updates"][name] = {"old": old, "new": new}
            period["state"][name] = new
    for question in user["qas"]:  # all else stays true
        choices, past = question["answer_choices"], lived(user, question)
        for state in past:
            if state not in [choice["state"] for choice in choices]:
                choices.append({"state": state, "answer": f"For {state}."})
        for choice in choices:
            choice["type"] = "experience" if choice["state"] in past else "random"


def last_period_is_left_out(user: User) -> None:
    user["periods"].pop()
    for question in user["qas"]:
        for choice in question["answer_choices"]:
            choice["type"] = "experience" if choice["state"] in lived(user, question) else "random"


def period_ends_a_day_late(user: User) -> None:
    user["periods"][-1]["period_end"] = user["periods"][-1]["period_end"][:-2] + "02"


CAUGHT: list[tuple[Callable[[User], None], str]] = [
    (value_outside_its_schema, "value_in_choices"),
    (value_outside_its_schema, "option_values_in_schema"),
    (update_without_a_difference, "value_differs_from_old"),
    (update_without_a_difference, "changes_exposed_in_their_period"),
    (update_from_another_value, "old_value_matches_previous"),
    (update_from_another_value, "value_differs_from_old"),
    (update_from_nothing, "old_value_matches_previous"),
    (first_value_after_another, "old_value_matches_previous"),
    (period_ends_before_it_begins, "consecutive_periods"),
    (user_starts_another_day, "period_0_ends_on_start_date"),
    (state_is_not_exposed, "changes_exposed_in_their_period"),
    (session_exposes_what_did_not_change, "exposed_values_changed_in_period"),
    (session_exposes_another_value, "exposed_values_match_state"),
    (sessions_are_interchanged, "sessions_ordered_within_period"),
    (session_after_its_period, "sessions_ordered_within_period"),
    (session_before_its_period, "sessions_ordered_within_period"),
    (session_without_a_time, "sessions_ordered_within_period"),
    (two_golds, "gold_is_the_only_option_for_the_state"),
    (no_gold, "gold_is_the_only_option_for_the_state"),
    (no_gold, "gold_in_options"),
    (option_outside_the_schema, "option_values_in_schema"),
    (two_options_for_one_state_that_never_comes, "unique_option_states"),
    (gold_says_what_another_option_says, "gold_in_options"),
]
"""What blocks."""

WARNED: list[tuple[Callable[[User], None], str]] = [
    (session_exposes_nothing, "sessions_expose_1_to_3_values"),
    (session_on_an_earlier_day, "sessions_on_last_days_of_period"),
    (session_at_noon, "sessions_in_the_evening"),
    (sessions_expose_all_again, "few_values_exposed_twice"),
    (unlived_option_stands_first, "options_of_unreached_states_last"),
    (more_options_than_needed, "option_count_as_configured"),
    (question_is_left_out, "question_count_as_configured"),
    (question_is_left_out, "variables_used_by_a_question"),
    (question_needs_one_variable, "variables_per_question_as_configured"),
    (variable_may_have_one_value_more, "choices_per_variable_as_configured"),
    (event_is_left_out, "later_changes_have_event"),
    (many_updates_in_one_period, "changes_per_period_near_configured"),
    (last_period_is_left_out, "period_count_as_configured"),
    (period_ends_a_day_late, "period_ends_as_configured"),
]
"""What warns."""


@pytest.fixture
def sound(made) -> list[User]:
    """Two sound users, the second to be damaged."""
    return copy.deepcopy(export_users(made.states, made.turns, made.probes).users[:2])


@pytest.mark.parametrize("damage", REFUSED, ids=lambda each: each.__name__)
def test_reader_refuses_contradiction(made, sound, read_back, damage):
    damage(sound[1])
    with pytest.raises(BadInput, match=rf"record 1 \(id {sound[1]['id']}\), .*{REFUSED[damage]}"):
        read_back(sound, made.domain)


@pytest.mark.parametrize(
    ("damage", "name"),
    [*CAUGHT, *WARNED],
    ids=[f"{damage.__name__}-{name}" for damage, name in (*CAUGHT, *WARNED)],
)
def test_corrupted_user_fails_named_check(made, sound, read_back, damage, name):
    damage(sound[1])
    back = read_back(sound, made.domain)
    [expectation] = [each for each in all_expectations() if each.name == name]
    [outcome] = outcomes_of(back, [expectation])
    assert not outcome.passed
    assert outcome.severity == ("error" if (damage, name) in CAUGHT else "warn")
    assert outcome.offending and all(f"={sound[1]['id']}" in key for key in outcome.offending)


# Damages to rows, where a file cannot have them: what is generated could.


def first_change_is_lost(world: dict[str, Any]) -> None:
    del world["state.changes"][0]


def period_is_lost(world: dict[str, Any]) -> None:
    world["state.changes"] = [row for row in world["state.changes"] if row.period != 2]


def another_value_is_revealed(world: dict[str, Any]) -> None:
    probe = world["question.probes"][0]
    world["question.probes"][0] = replace(probe, revealed=probe.revealed.replace(": ", ": not_"))


def another_value_is_gold(world: dict[str, Any]) -> None:
    probe = world["question.probes"][1]
    assert probe.kind == "state"
    world["question.probes"][1] = replace(probe, gold="{}")


def options_are_shuffled(world: dict[str, Any]) -> None:
    last = max(at for at, probe in enumerate(world["question.probes"]) if probe.kind == "choice")
    probe = world["question.probes"][last]
    world["question.probes"][last] = replace(
        probe, options=probe.options[::-1], variants=probe.variants[::-1]
    )


def gold_is_another_option(world: dict[str, Any]) -> None:
    probe = world["question.probes"][0]
    world["question.probes"][0] = replace(probe, gold="2" if probe.gold == "1" else "1")


def question_is_not_asked(world: dict[str, Any]) -> None:
    del world["question.probes"][0]


def question_is_asked_twice(world: dict[str, Any]) -> None:
    world["question.probes"].append(replace(world["question.probes"][0], probe_id="again"))


def state_probe_is_lost(world: dict[str, Any]) -> None:
    del world["question.probes"][1]


ROWS: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (first_change_is_lost, "variables_have_a_value"),
    (period_is_lost, "consecutive_periods"),
    (another_value_is_revealed, "revealed_values_match_state"),
    (another_value_is_gold, "revealed_values_match_state"),
    (options_are_shuffled, "same_options_in_every_period"),
    (gold_is_another_option, "gold_is_the_only_option_for_the_state"),
    (question_is_not_asked, "one_probe_per_question_and_period"),
    (question_is_asked_twice, "one_probe_per_question_and_period"),
    (state_probe_is_lost, "question_variables_have_state_probe"),
]


@pytest.mark.parametrize(("damage", "name"), ROWS, ids=[damage.__name__ for damage, _ in ROWS])
def test_corrupted_rows_fail_named_check(demo, damage, name):
    world = {table: list(rows) for table, rows in tables(demo).items()}
    damage(world)
    if damage is first_change_is_lost:  # the variable's later changes would stand for it
        lost = demo.states.changes[0].variable
        world["state.changes"] = [row for row in world["state.changes"] if row.variable != lost]
    [outcome] = outcomes_of(demo, [BY_NAME[name]], world)
    assert (outcome.passed, outcome.severity) == (False, "error")
    assert outcome.offending


SET = {
    "choices_per_variable_as_configured": {"choices_per_variable": 4},
    "changes_per_period_near_configured": {"changes_per_period": 6},
    "changes_per_variable_within_limit": {"max_changes_per_variable": 1},
    "period_count_as_configured": {"periods": 5},
    "period_ends_as_configured": {"months_per_period": 2},
    "option_count_as_configured": {"min_variants": 9},
    "question_count_as_configured": {"questions": 5},
    "variables_per_question_as_configured": {"variables_per_question": 3},
}
"""Sentences that depend on the domain's parameters, and a parameter that makes them untrue of the demo."""


@pytest.mark.parametrize("name", SET)
def test_check_follows_parameter(demo, name):
    assert outcomes_of(demo, [BY_NAME[name]])[0].passed
    other = replace(demo, domain=replace(demo.domain, parameters={**demo.domain.parameters, **SET[name]}))
    [outcome] = outcomes_of(other, [BY_NAME[name]])
    assert (outcome.passed, outcome.severity) == (False, "warn")
    elsewhere = replace(other, domain=replace(other.domain, benchmark="memorybench"))
    assert outcomes_of(elsewhere, [BY_NAME[name]]) == []


def test_every_check_has_a_corruption():
    assert {name for _, name in (*CAUGHT, *WARNED, *ROWS)} | set(SET) >= set(BY_NAME)


def test_users_without_states_pass(demo):
    world = {**tables(demo), "state.profiles": [], "state.variables": [], "state.changes": []}
    plain = [replace(turn, exposes=None, sent_at=None) for turn in demo.turns]
    asked = [replace(probe, variants=[], variables=[]) for probe in demo.of_kind("choice")]
    world |= {"utterance.turns": plain, "question.probes": asked}
    for table in TABLES[1:]:
        outcomes = outcomes_of(demo, [each for each in EXPECTED if each.table == table], world)
        assert [outcome.name for outcome in outcomes if not outcome.passed] == []
