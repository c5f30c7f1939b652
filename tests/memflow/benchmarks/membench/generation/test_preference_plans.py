"""Preference plans: no message names the category, and the evidence determines it."""

import pytest
from membench_generation import preference_task

from memflow.benchmarks.membench.generation.preference_plans import (
    plan_preference_from_recommendations,
)


def test_30_percent_of_opinions_are_stated_without_assistant_recommendation():
    tasks = [preference_task("highlevel_rec", seed=seed) for seed in range(200)]
    sessions = [session for task in tasks for session in plan_preference_from_recommendations(task).sessions]
    share = sum(len(session.messages) == 1 for session in sessions) / len(sessions)
    assert share == pytest.approx(0.3, abs=0.04)


def test_second_recommended_item_is_liked_at_chance_rate():
    tasks = [preference_task("highlevel_rec", seed=seed, items=(3, 3)) for seed in range(400)]
    second = [plan_preference_from_recommendations(task).sessions[1] for task in tasks]
    liked = [session.messages[-1].exposes is not None for session in second]
    assert sum(liked) / len(liked) == pytest.approx(2 / 5, abs=0.08)
