"""Answers computed from attributes: hand-computed values for three people and two events, and sampled graphs."""

import pytest
from hypothesis import strategies as st
from membench_generation import life, task_of

from memflow.benchmarks.membench.generation.computed_plans import plan_aggregative, plan_comparative
from memflow.benchmarks.membench.generation.derived_values import derivation_of
from memflow.benchmarks.membench.generation.graphs import Graph, Node
from memflow.benchmarks.membench.generation.twins import wrong_values

SEEDS = st.integers(0, 10**9)


REST = dict.fromkeys(("occupation", "position", "company", "hobby", "phone", "email"), "-")
"""Attributes that nothing here follows from."""


def person(entity_id, name, relationship, **attributes):
    return Node(entity_id, "relative", name, relationship, {**REST, **attributes})


def event(entity_id, name, **attributes):
    rest = {"event_type": name, "content": "-", "time": "on October 12, 2024 at 7:00 PM"}
    return Node(entity_id, "rest_event", name, "attends", {**rest, **attributes})


ALIKE = {"hometown": "Boston, MA", "work_location": "Denver, CO", "education": "a doctorate"}
ANN = person("r0", "Ann Lee", "aunt", age="50 years old", height="160 cm", birthday="March 3", **ALIKE)
BEN = person("r1", "Ben Ray", "nephew", age="30 years old", height="180 cm", birthday="December 24", **ALIKE)
CAL = person(
    "r2", "Cal Fox", "uncle", age="30 years old", height="170 cm", birthday="July 1",
    **{**ALIKE, "hometown": "Miami, FL", "education": "a high school diploma"},
)  # fmt: skip
FAIR = event("e0", "Street Fair", location="Boston, MA", scale="ninety people", duration="nine days")
CAMP = event("e1", "Camp", location="Miami, FL", scale="one hundred people", duration="two weeks")
GRAPH = Graph("u1", (Node("self", "self", "Me", "self", {}), ANN, BEN, CAL, FAIR, CAMP))


def answers(planner, kind, scenario, seeds=range(200), **parameters):
    """Return the answer of each question over many seeds."""
    plans = [planner(task_of(kind, scenario, GRAPH, seed, **parameters)) for seed in seeds]
    return {plan.query.question: plan.query.answer for plan in plans}


def test_aggregative_plan_counts_people_and_events_with_an_attribute_value():
    people = answers(plan_aggregative, "aggregative", "roles")
    people_who = "How many of the people I told you about "
    assert people[f"{people_who}are 30 years old or older?"] == "3 people"
    assert people[f"{people_who}are 50 years old or older?"] == "1 person"
    assert people[f"{people_who}are 170 cm tall or taller?"] == "2 people"
    assert people[f"{people_who}have a birthday in July or later in the year?"] == "2 people"
    events = answers(plan_aggregative, "aggregative", "events")
    assert events["How many of the events I told you about last two weeks or longer?"] == "1 event"
    many = "How many of the events I told you about expect one hundred people or more?"
    assert events[many] == "1 event"


def test_count_of_a_value_is_the_number_of_its_holders_that_messages_tell_about():
    plans = [plan_aggregative(task_of("aggregative", "roles", GRAPH, seed)) for seed in range(200)]
    counts = {}
    for plan in plans:
        if plan.query.question.endswith("come from Boston, MA?"):
            told = [message.user for session in plan.sessions for message in session.messages]
            assert plan.query.answer.split()[0] == str(sum("is from Boston" in text for text in told))
            counts[plan.query.answer] = (plan.query.answer, *plan.query.wrong)
    assert set(counts) == {"0 people", "1 person", "2 people"}
    assert {len({*options}) for options in counts.values()} == {4}


def test_comparative_options_have_the_value_ahead_and_another_for_both_entities():
    graph = life()
    named = {node.name: node for node in graph.of_type("people")}
    for seed in range(40):
        plan = plan_comparative(task_of("comparative", "roles", graph, seed))
        options = [option.partition(", ") for option in (plan.query.answer, *plan.query.wrong)]
        values = [value for _, _, value in options]
        winner, loser = dict.fromkeys(name for name, _, _ in options)
        assert values[0] in named[winner].attributes.values() and values[0] != values[1]
        assert [(name, value) for name, _, value in options] == [
            (winner, values[0]), (winner, values[1]), (loser, values[0]), (loser, values[1]),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "answer"),
    [
        ("email", "ann@firm.example", "firm.example"),
        ("name", "Ann Lee", "6"),
        ("name", "Nimbus X4", "8"),
        ("birthday", "February 29", "winter"),
        ("birthday", "August 31", "summer"),
        ("scale", "nine hundred people", "450 people"),
        ("scale", "ten people", "5 people"),
        ("duration", "two weeks", "336 hours"),
        ("hobby", "chess", "moving kings and pawns on a board of sixty-four squares"),
        ("hometown", "Detroit, MI", "the old capital of the motor car"),
        ("occupation", "teacher", "prepares lessons, holds classes and grades students' work"),
    ],
)
def test_derived_value_matches_attribute(name, value, answer):
    assert derivation_of(task_of("post_processing", "roles", life()), name).derive(value) == answer


@pytest.mark.parametrize("language", ["en", "zh"])
def test_three_wrong_values_of_every_attribute_are_drawn_as_those_of_twins(language):
    graph = life(language)
    for node in (
        *graph.of_type("people"),
        *graph.of_type("events"),
        *graph.of_type("items"),
        *graph.of_type("places"),
    ):
        for name in {"name", *node.attributes} - {"gender", "content", "event_type"}:
            task = task_of("simple", "roles", graph, 1, language=language)
            wrong = wrong_values(task, node, name)
            assert len({node[name], *wrong}) == 4
            if name == "email":
                assert {value.partition("@")[0] for value in wrong} == {node[name].partition("@")[0]}
            if name in ("scale", "duration") and language == "en":  # all in the unit of the event type
                assert len({value.removesuffix("s")[-3:] for value in (node[name], *wrong)}) == 1
