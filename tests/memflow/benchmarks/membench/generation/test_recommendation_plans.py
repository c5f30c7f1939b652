"""Recommendation plans: no item is recommended twice, and exactly one option is the complete list."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from membench_generation import preference_task

from memflow.benchmarks.membench.generation.recommendation_plans import (
    plan_recommendations,
)
from memflow.benchmarks.membench.generation.templates import preference_templates
from memflow.errors import BadInput

SEEDS = st.integers(0, 2**32)
LANGUAGE = st.sampled_from(["en", "zh"])
TOPIC = st.sampled_from(["movie", "food", "book"])


def recommended(plan) -> list[str]:
    """Return the items that the assistant recommends in the plan, in order."""
    return [
        message.required_words[0]
        for session in plan.sessions
        for message in session.messages
        if message.assistant is not None
    ]


def items(plan) -> list[str]:
    return [message.required_words[0] for session in plan.sessions for message in session.messages]


def options(plan) -> list[frozenset[str]]:
    comma = preference_templates(plan.language).comma
    return [frozenset(option.split(comma)) for option in (plan.query.answer, *plan.query.wrong)]


@given(seed=SEEDS, language=LANGUAGE, topic=TOPIC, recommends=st.sampled_from([0.0, 0.4, 1.0]))
def test_only_gold_option_equals_list_of_recommended_items(seed, language, topic, recommends):
    task = preference_task("lowlevel_rec", topic, language, seed, recommended=recommends)
    plan = plan_recommendations(task)
    check(plan)
    count, total = len(recommended(plan)), len(items(plan))
    assert len(plan.sessions) == 1 and 4 <= total <= 5
    assert count == {0.0: 1, 1.0: total - 1}.get(recommends, count)


def check(plan):
    """Assert the properties of every recommendation plan."""
    assert len(items(plan)) == len(set(items(plan)))  # so nothing is recommended again, nor what was liked
    assert options(plan)[0] == frozenset(recommended(plan))
    assert len(options(plan)) == 4
    assert all(one != other for one, other in combinations(options(plan), 2))
    evidence = [message for session in plan.sessions for message in session.messages if message.exposes]
    assert [message.required_words[0] for message in evidence] == recommended(plan)
    for session in plan.sessions:
        first, second, *_ = session.messages
        assert first.assistant is None and second.assistant is not None
        assert len(session.fillers) == len(session.messages)
        assert all(2 <= each <= 4 for each in session.fillers)
        for message in session.messages:
            [item] = message.required_words
            assert (item in message.user) != (message.assistant is not None and item in message.assistant)
            assert (message.exposes is None) == (message.assistant is None)
            assert message.exposes is None or message.exposes["value"] == item


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"items": (20, 20)}, "'Comedy' has 9 unused items, but 20 are needed"),
        (
            {"liked": {"movie": "Slapstick"}},
            "prefers the movie category 'Slapstick', which the preferences lack. They have Action",
        ),
        ({"liked": {}}, "u1 has no movie preference. Regenerate the domain"),
    ],
)
def test_recommendation_planner_rejects_missing_preference_or_too_few_items(parameters, message):
    with pytest.raises(BadInput, match=message):
        plan_recommendations(preference_task("lowlevel_rec", **parameters))
