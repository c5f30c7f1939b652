"""Probes: unique gold, stable option order, and evidence."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from amemgym_agents import SpyChat
from scipy.stats import chisquare

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.states import histories
from memflow.benchmarks.registry import find_domain


def test_every_question_has_the_same_options_and_state_probes_in_each_period(demo):
    periods = {row.period for row in demo.states.changes}
    questions = {}
    for probe in demo.of_kind("choice"):
        questions.setdefault((probe.episode_id, probe.question), []).append(probe)
    stated = {
        (probe.episode_id, probe.checkpoint, name)
        for probe in demo.of_kind("state")
        for name in probe.variables
    }
    for (user, _), probes in questions.items():
        assert [probe.checkpoint for probe in probes] == sorted(periods)
        assert len({(*probe.options, *probe.variants) for probe in probes}) == 1
        assert all((user, probe.checkpoint, name) in stated for probe in probes for name in probe.variables)


@pytest.mark.parametrize("name", ["amemgym_demo", "amemgym_demo_zh"])
def test_gold_of_generated_users_is_at_every_number_of_the_options(name, making, package):
    domain = find_domain(name)
    domain = replace(domain, parameters={**domain.parameters, "questions": 8})
    probes = making(domain, package).of_kind("choice")
    numbers = {(probe.episode_id, probe.question, probe.gold) for probe in probes if len(probe.options) == 4}
    counts = Counter(number for *_, number in numbers)
    assert set(counts) == set("1234") and sum(counts.values()) > 100
    assert chisquare([*counts.values()]).pvalue > 0.01, counts


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


@pytest.mark.parametrize("state_probes", ["question", "variable"])
async def test_failed_option_quarantines_all_probes_of_its_user_if_configured(demo, state_probes):
    parameters = {**demo.domain.parameters, "quarantine": "user", "state_probes": state_probes}
    domain = replace(demo.domain, parameters=parameters)
    users = ("nora", "tomas", "mei")
    asked = {(probe.episode_id, probe.question) for probe in demo.of_kind("choice")}
    others = {text for user_id, text in asked if user_id in ("tomas", "mei")}
    question = min(text for user_id, text in asked if user_id == "nora" and text not in others)
    chat = SpyChat({"answers": lambda request: "" if request.fields["question"] == question else None})
    probes = await AMemGym().probes(domain, demo.records, demo.states, demo.turns, chat)
    of_users = {
        user_id: {probe.reason is None for probe in probes if probe.episode_id == user_id}
        for user_id in users
    }
    assert of_users == {"nora": {False}, "tomas": {True}, "mei": {True}}


async def test_probe_is_quarantined_if_its_answer_is_recovered_as_another_variant(demo):
    chat = SpyChat({"recover": {"answer": 1}})  # every answer is taken for the first variant
    probes = await AMemGym().probes(demo.domain, demo.records, demo.states, demo.turns, chat)
    assert len(probes) == len(demo.probes)
    assert all("after 3 refinements the answer for" in probe.reason for probe in probes)
    assert json.loads(probes[1].gold) == json.loads(demo.probes[1].gold)
