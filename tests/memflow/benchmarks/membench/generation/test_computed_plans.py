"""Answers computed from attributes: hand-computed values for three people and two events, and sampled graphs."""

import pytest
from hypothesis import strategies as st
from membench_generation import life, task_of

from memflow.benchmarks.membench.generation.computed_plans import (
    plan_aggregative,
)
from memflow.benchmarks.membench.generation.derived_values import derive_value
from memflow.benchmarks.membench.generation.graphs import Graph, Node

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
    assert f"{people_who}are 30 years old or older?" not in people  # true of all three
    assert people[f"{people_who}are 50 years old or older?"] == "1 person"
    assert people[f"{people_who}are 170 cm tall or taller?"] == "2 people"
    assert people[f"{people_who}have their birthday in July or later in the year?"] == "2 people"
    assert people[f"{people_who}come from Boston, MA?"] == "2 people"
    assert people[f"{people_who}have a high school diploma as their highest qualification?"] == "1 person"
    events = answers(plan_aggregative, "aggregative", "events")
    assert events["How many of the events I told you about last two weeks or longer?"] == "1 event"
    many = "How many of the events I told you about expect one hundred people or more?"
    assert events[many] == "1 event"
    both = answers(plan_aggregative, "aggregative", "hybrid", scene="observation")
    assert [answer for question, answer in both.items() if "Boston" in question] == ["3 in total"]


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
def test_derived_value_matches_attribute_and_has_three_wrong_values(name, value, answer):
    node = Node("x", "relative", value if name == "name" else "X", "aunt", {name: value})
    graph = life()
    for seed in range(20):
        made = derive_value(task_of("post_processing", "roles", graph, seed), name, node)
        assert made.answer == answer and answer not in made.wrong
        assert len(set(made.wrong)) == len(made.wrong) and len(made.wrong) == 3
