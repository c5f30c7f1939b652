"""Trajectories as rows: ids, order, gold, and the effects of a quarantine."""

import json
from dataclasses import replace

import pytest

from memflow.benchmarks.episodes import arrivals, given_episodes
from memflow.benchmarks.membench.kinds import KINDS, find_kind
from memflow.benchmarks.membench.turns import (
    ChoiceQuestion,
    Step,
    Trajectory,
    turn_rows,
)
from memflow.errors import BadInput

SIMPLE = Trajectory(
    trajectory_id="participation/simple/roles/7",
    dataset="d",
    scene="participation",
    kind=find_kind("simple"),
    scenario="roles",
    language="en",
    steps=(
        Step("Hello.", "Hello to you.", 0),
        Step(
            "My aunt is 61.", "I see.", 1, "'2024-10-02 08:00' Wednesday", {"attribute": "age", "value": "61"}
        ),
    ),
    questions=(
        ChoiceQuestion(
            "How old is my aunt?",
            "'2024-10-03 08:00' Thursday",
            ("60", "61", "62", "63"),
            2,
            "61",
            ("participation/simple/roles/7/1.1u",),
        ),
    ),
)


def test_participation_step_becomes_event_of_user_and_assistant_message():
    turns = list(turn_rows("d", SIMPLE))
    assert [(turn.message_id, turn.event, turn.position, turn.role) for turn in turns] == [
        ("participation/simple/roles/7/0.0u", 0, 0, "user"),
        ("participation/simple/roles/7/0.0a", 0, 1, "assistant"),
        ("participation/simple/roles/7/1.1u", 1, 0, "user"),
        ("participation/simple/roles/7/1.1a", 1, 1, "assistant"),
    ]
    assert [len(step) for step in arrivals(turns)] == [2, 2]
    assert [len(event.messages) for event in given_episodes(turns)[0].events] == [2, 2]


def test_gold_is_on_user_message_or_on_recommendation_of_assistant():
    exposed = {turn.message_id[-2:]: turn.exposes for turn in turn_rows("d", SIMPLE)}
    assert exposed["1u"] is not None
    assert json.loads(exposed["1u"]) == {"attribute": "age", "value": "61"}
    assert exposed["1a"] is None
    recommended = replace(SIMPLE, kind=find_kind("lowlevel_rec"))
    assert [turn.message_id[-2:] for turn in turn_rows("d", recommended) if turn.exposes] == ["1a"]
    assert recommended.evidence_id(1).endswith("1.1a")


def test_messages_given_to_the_memory_contain_no_gold():
    (episode,) = given_episodes(list(turn_rows("d", SIMPLE)))
    shown = [message.text for event in episode.events for message in event.messages]
    assert shown == ["Hello.", "Hello to you.", "My aunt is 61.", "I see."]


def test_find_kind_accepts_published_kind_name_and_rejects_unknown_name():
    assert find_kind("RecMultiSession") is KINDS["rec_multi_session"]
    with pytest.raises(BadInput, match="unknown question kind 'hard'"):
        find_kind("hard")
