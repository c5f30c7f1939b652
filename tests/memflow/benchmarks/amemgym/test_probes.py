"""Probes: unique gold, stable option order, and evidence."""

import json
from dataclasses import replace

import pytest
from amemgym_agents import SpyChat

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.states import histories
from memflow.metrics.choice import random_accuracy


@pytest.fixture(params=["demo", "base"])
def made(request):
    return request.getfixturevalue(request.param)


def test_every_question_has_a_choice_and_a_state_probe_in_every_period(made):
    for user_id, history in histories(made.states).items():
        mine = [probe for probe in made.probes if probe.episode_id == user_id]
        for period in range(len(history.periods)):
            numbers = [probe.probe_id for probe in mine if probe.checkpoint == period]
            questions = len(history.questions)
            assert numbers == [f"{user_id}/p{period}/{kind}{k}" for k in range(questions) for kind in "qs"]
    for choice, state in zip(made.probes[::2], made.probes[1::2], strict=True):
        assert (choice.kind, choice.metric) == ("choice", "accuracy")
        assert (state.kind, state.metric, state.parent) == ("state", "state_match", choice.probe_id)
        assert state.options == [] and state.variables == choice.variables


def test_state_probes_by_variable_cover_each_variable_once_per_period(demo, demo_by_variable):
    assert demo_by_variable.of_kind("choice") == demo.of_kind("choice")
    for user_id, history in histories(demo_by_variable.states).items():
        for period, state in enumerate(history.periods):
            mine = [
                probe
                for probe in demo_by_variable.of_kind("state")
                if (probe.episode_id, probe.checkpoint) == (user_id, period)
            ]
            assert [probe.variables for probe in mine] == [[name] for name in history.schema]
            assert all(probe.parent is None and len(probe.evidence) == 1 for probe in mine)
            for probe in mine:
                assert json.loads(probe.gold) == {name: state[name] for name in probe.variables}
                assert json.loads(probe.question) == {name: history.schema[name] for name in probe.variables}


def test_same_question_has_equal_gold_in_periods_with_equal_states(made):
    seen: dict[tuple[str, str, str], set[str]] = {}
    for probe in made.of_kind("choice"):
        question = probe.probe_id.rpartition("/")[2]
        seen.setdefault((probe.episode_id, question, probe.revealed), set()).add(probe.gold)
    assert all(len(golds) == 1 for golds in seen.values())
    by_question: dict[tuple[str, str], list[str]] = {}
    for (user, question, _), golds in seen.items():
        by_question.setdefault((user, question), []).extend(golds)
    assert all(len(set(golds)) == len(golds) for golds in by_question.values())


def test_evidence_messages_of_a_probe_expose_its_current_values(made):
    turns = {turn.message_id: turn for turn in made.turns}
    for probe in made.probes:
        told: dict[str, str] = {}
        for message in sorted(probe.evidence, key=lambda message: turns[message].event):
            assert turns[message].checkpoint <= probe.checkpoint
            told |= json.loads(turns[message].exposes)
        assert {name: told[name] for name in probe.variables} == json.loads(probe.revealed)


def test_random_accuracy_of_published_questions_matches_hand_computed_value(base):
    users = [json.loads(record.content) for record in base.records]
    counts = [len(question["answer_choices"]) for user in users for question in user["qas"]]
    by_hand = sum(1 / count for count in counts) / len(counts)
    assert random_accuracy(len(probe.options) for probe in base.of_kind("choice")) == pytest.approx(by_hand)
    if len(users) == 12:
        assert len(base.of_kind("choice")) == 12 * 11 * 10


def test_gold_options_of_period_0_have_different_positions(demo):
    first = [probe.gold for probe in demo.of_kind("choice") if probe.checkpoint == 0]
    assert len(set(first)) > 1


async def test_option_writer_receives_the_question_and_its_variants_but_not_the_profile(demo):
    chat = SpyChat()
    await AMemGym().probes(demo.domain, demo.records, demo.states, demo.turns, chat)
    asked = chat.asked("answers")
    assert len(asked) == 12
    for request in asked:
        assert request.fields.keys() == {"question", "variants", "count"}
        sent = request.messages[-1].content
        assert not any(
            line in sent for profile in demo.states.profiles for line in profile.profile.split("\n")
        )


@pytest.mark.parametrize("state_probes", ["question", "variable"])
async def test_failed_option_quarantines_all_probes_of_its_user_if_configured(demo, state_probes):
    parameters = {**demo.domain.parameters, "quarantine": "user", "state_probes": state_probes}
    domain = replace(demo.domain, parameters=parameters)
    asked = {probe.episode_id: probe.question for probe in demo.of_kind("choice")}
    question = asked["nora"]
    assert question not in (asked["tomas"], asked["mei"])
    chat = SpyChat({"answers": lambda request: "" if request.fields["question"] == question else None})
    probes = await AMemGym().probes(domain, demo.records, demo.states, demo.turns, chat)
    of_users = {
        user_id: {probe.reason is None for probe in probes if probe.episode_id == user_id}
        for user_id in ("nora", "tomas", "mei")
    }
    assert of_users == {"nora": {False}, "tomas": {True}, "mei": {True}}


async def test_probe_is_quarantined_if_its_answer_is_recovered_as_another_variant(demo):
    chat = SpyChat({"recover": {"answer": 1}})  # every answer is taken for the first variant
    probes = await AMemGym().probes(demo.domain, demo.records, demo.states, demo.turns, chat)
    assert len(probes) == len(demo.probes)
    assert all("after 3 refinements the answer for" in probe.reason for probe in probes)
    assert json.loads(probes[1].gold) == json.loads(demo.probes[1].gold)


def test_previous_state_is_the_last_different_state_or_the_current_state_without_changes(made):
    states = histories(made.states)
    seen = set()
    for probe in made.probes:
        periods = states[probe.episode_id].periods[: probe.checkpoint + 1]
        lived = [{name: state[name] for name in probe.variables} for state in periods]
        others = [state for state in lived if state != lived[-1]]
        assert json.loads(probe.previous) == (others[-1] if others else lived[-1])
        assert json.loads(probe.revealed) == lived[-1]
        seen.add(bool(others))
    assert seen == {True, False}
