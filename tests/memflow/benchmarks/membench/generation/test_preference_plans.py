"""Preference plans: no message names the category, and the evidence determines it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from membench_generation import preference_task

from memflow.benchmarks.membench.generation.preference_plans import (
    PLANNERS,
    plan_preference,
    plan_preference_from_recommendations,
)
from memflow.benchmarks.membench.wording import contains_word

SEEDS = st.integers(0, 2**32)
LANGUAGE = st.sampled_from(["en", "zh"])
TOPIC = st.sampled_from(["movie", "food", "book"])
SCENE = st.sampled_from(["participation", "observation"])


def category_of(task, item: str) -> str:
    """Return the category of an item."""
    [name] = [name for name, items in task.categories(task.scenario).items() if item in items]
    return name


def evidence(plan):
    return [plan.sessions[session].messages[message] for session, message in plan.query.evidence]


def check(task, plan):
    """Assert the properties of every preference plan."""
    answer = plan.query.answer
    assert answer == task.graph.user.attributes[task.scenario]
    assert len({answer, *plan.query.wrong}) == 4
    assert set(plan.query.wrong) < set(task.categories(task.scenario))
    items = [message.required_words[0] for message in evidence(plan)]
    assert 3 <= len(items) == len(set(items)) <= 5
    assert {category_of(task, item) for item in items} == {answer}
    for message in evidence(plan):
        assert message.required_words[0] in message.user
        fact = {"entity": task.scenario, "attribute": "liked", "value": message.required_words[0]}
        assert message.exposes == {**fact, "category": answer}
    for session in plan.sessions:
        assert session.forbidden_words == (answer,) and len(session.fillers) == len(session.messages)
        for message in session.messages:
            assert not contains_word(f"{message.user} {message.assistant or ''}", answer)


@given(seed=SEEDS, language=LANGUAGE, topic=TOPIC, scene=SCENE)
def test_preference_plan_names_previous_item_in_each_message_about_liked_item(seed, language, topic, scene):
    of = preference_task("highlevel", topic, language, seed, scene=scene)
    plan = plan_preference(of)
    check(of, plan)
    [session] = plan.sessions
    assert [message.user for message in session.messages] == [message.user for message in evidence(plan)]
    items = [message.required_words[0] for message in session.messages]
    for before, message in zip(items, session.messages[1:], strict=False):
        assert before in message.user
    assert all((1 if scene == "observation" else 2) <= fillers <= 4 for fillers in session.fillers)


@given(seed=SEEDS, language=LANGUAGE, topic=TOPIC)
def test_preference_plan_from_recommendations_has_liked_and_disliked_items(seed, language, topic):
    of = preference_task("highlevel_rec", topic, language, seed)
    plan = plan_preference_from_recommendations(of)
    check(of, plan)
    items_named = [session.messages[-1].required_words[0] for session in plan.sessions]
    liked = [message.required_words[0] for message in evidence(plan)]
    assert items_named[0] == liked[0] and len(items_named) == len(set(items_named)) == len(liked) + 3
    rejected = [item for item in items_named if item not in liked]
    assert {category_of(of, item) for item in rejected} == set(plan.query.wrong)
    for session in plan.sessions:
        *before_last, said = session.messages
        assert (said.exposes is not None) == (said.required_words[0] in liked)
        assert (
            said.assistant is None
            and len(before_last) <= 1
            and session.fillers[:-1] == (0,) * len(before_last)
        )
        for message in before_last:
            assert message.exposes is None and said.required_words[0] in (message.assistant or "")


def test_30_percent_of_opinions_are_stated_without_assistant_recommendation():
    tasks = [preference_task("highlevel_rec", seed=seed) for seed in range(200)]
    sessions = [session for task in tasks for session in plan_preference_from_recommendations(task).sessions]
    share = sum(len(session.messages) == 1 for session in sessions) / len(sessions)
    assert share == pytest.approx(0.3, abs=0.04)


def test_second_recommended_item_is_liked_at_chance_rate():
    tasks = [preference_task("highlevel_rec", seed=seed, items=(3, 3)) for seed in range(400)]
    evidence_of = [plan_preference_from_recommendations(task).query.evidence for task in tasks]
    liked = [any(session == 1 for session, _ in evidence) for evidence in evidence_of]
    assert sum(liked) / len(liked) == pytest.approx(2 / 5, abs=0.08)


@pytest.mark.parametrize("topic", ["movie", "food", "book"])
@pytest.mark.parametrize(("kind", "make"), PLANNERS.items())
def test_preference_question_asks_for_topic_of_the_sessions(kind, make, topic):
    question = make(preference_task(kind, topic)).query.question
    noun = {"movie": "movies", "food": "dishes", "book": "books"}
    assert [name for name in noun if noun[name] in question] == [topic]
