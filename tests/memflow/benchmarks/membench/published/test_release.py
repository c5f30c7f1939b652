"""MemBench's published files in three formats: parsed content, and rejected files."""

import json
from pathlib import Path
from typing import Any

import pytest
from membench_files import (
    ids,
    messages,
    question,
    read,
    sampled,
    sessions,
    time,
)

from memflow.benchmarks.episodes import given_episodes
from memflow.benchmarks.membench.load import trajectory
from memflow.benchmarks.membench.turns import Trajectory, is_noise, turn_rows
from memflow.errors import BadInput

PARTICIPATION = "membench/data2test/0-10k/FirstAgentDataLowLevel_multiple_0.json"
OBSERVATION = "membench/data2test/0-10k/ThirdAgentDataLowLevel_multiple_0.json"
LENGTHENED = "membench/data2test/100k/{}AgentDataLowLevel_multiple_2.json"
RAW = "membench/MemData/{}Agent/{}.json"


def one(folder: Path, source: str, content: Any, name: str = "membench_participation") -> Trajectory:
    (record,) = read(name, {source: content}, folder)
    return trajectory(record)


def test_data2test_steps_are_rounds_in_participation_and_messages_in_observation(tmp_path: Path):
    took = one(tmp_path, PARTICIPATION, {"simple": {"roles": [sampled("participation")]}})
    assert [(step.user[:6], step.assistant[:6], step.sent_at) for step in took.steps if step.assistant] == [
        ("Step 0", "I see.", time(0)),
        ("My aun", "I see.", time(1)),
        ("Step 2", "I see.", time(2)),
    ]
    assert took.steps[1].user == f"My aunt is 61. (place: Boston, MA; time: {time(1)})"
    assert took.questions[0].evidence == ("participation/simple/roles/0/0.1u",)
    saw = one(tmp_path, OBSERVATION, {"simple": {"places": [sampled("observation")]}})
    assert [step.assistant for step in saw.steps] == [None, None, None]
    assert saw.questions[0].evidence == ("observation/simple/places/0/0.1u",)
    assert (saw.scene, saw.kind.name, saw.scenario, saw.language) == ("observation", "simple", "places", "en")


def test_message_time_is_parsed_from_stamp_without_colon(tmp_path: Path):
    without = sampled("observation", colon="")
    assert f"time{time(1)})" in without["message_list"][1]
    found = one(tmp_path, OBSERVATION, {"simple": {"roles": [without]}})
    assert [step.sent_at for step in found.steps] == [time(0), time(1), time(2)]


@pytest.mark.parametrize(("scene", "agent"), [("participation", "First"), ("observation", "Third")])
def test_steps_without_time_in_extended_files_are_noise(tmp_path: Path, scene: Any, agent: str):
    long = sampled(scene, units=2)
    found = one(tmp_path, LENGTHENED.format(agent), {"simple": {"roles": [long]}})
    assert [step.noise for step in found.steps] == [False, False, *[True] * 6, False]
    assert [step.session for step in found.steps if step.noise] == [0, 0, 0, 1, 1, 1]
    assert all(step.sent_at is None for step in found.steps if step.noise)
    turns = list(turn_rows("d", found))
    assert len({turn.message_id for turn in turns}) == len(turns)
    assert sum(is_noise(turn.message_id) for turn in turns) == (12 if scene == "participation" else 6)
    assert f"{scene}/simple/roles/0/noise/1.5u" in {turn.message_id for turn in turns}
    assert found.questions[0].evidence == (f"{scene}/simple/roles/0/0.1u",)
    assert found.questions[0].reason is None


def test_trajectory_with_unexpected_number_of_noise_steps_is_quarantined(tmp_path: Path):
    long = sampled("observation", units=1)
    found = one(tmp_path, LENGTHENED.format("Third"), {"simple": {"roles": [long]}})
    assert found.reason == ("its file says 2 units of noise, of 3 steps each, and 3 of its steps say no time")
    assert given_episodes(list(turn_rows("d", found))) == []


def test_question_with_noise_step_as_evidence_is_quarantined(tmp_path: Path):
    long = sampled("observation", units=2, target_step_id=[4])
    found = one(tmp_path, LENGTHENED.format("Third"), {"simple": {"roles": [long]}})
    assert found.questions[0].reason == "it rests on step 4, which is noise"


def test_target_steps_of_memdata_questions_are_numbered_across_sessions(tmp_path: Path):
    found = one(tmp_path, RAW.format("First", "simple"), {"roles": [sessions()]})
    assert [step.session for step in found.steps] == [0, 0, 1, 1, 1]
    assert found.questions[0].evidence == ("participation/simple/roles/0/1.2u",)
    assert found.steps[2].user == f"My aunt is 61. (place: Boston, MA; time: {time(2)})"
    assert found.steps[2].assistant == f"I see. (place: Boston, MA; time: {time(2)})"
    assert found.steps[2].sent_at == time(2)


def test_facts_in_memdata_messages_become_gold_and_are_not_played(tmp_path: Path):
    for agent, content in (("First", sessions()), ("Third", messages())):
        found = one(tmp_path, RAW.format(agent, "simple"), {"roles": [content]})
        (evidence,) = [turn for turn in turn_rows("d", found) if turn.exposes]
        assert json.loads(evidence.exposes or "") == {"entity": "aunt", "attribute": "age", "value": "61"}
        assert evidence.message_id == found.questions[0].evidence[0]
        (episode,) = given_episodes(list(turn_rows("d", found)))
        assert not any("attr" in message.text for event in episode.events for message in event.messages)


def test_list_answers_of_recommendation_questions_are_joined_by_semicolons(tmp_path: Path):
    rounds = [
        {"mid": at, "user": "Another?", "assistant": f"Film {at}.", "time": time(at), "place": "Rome"}
        for at in (0, 1)
    ]
    both = ["Film 0", "Film 1, or so"]
    choices = {"A": both[:1], "B": both, "C": "I named nothing.", "D": both[1:]}
    asked = question([[0, 0], [3, 1]], answer=both, choices=choices)
    content = {"tid": 3, "message_list": [rounds, rounds], "QA": asked}
    found = one(tmp_path, RAW.format("First", "RecMultiSession"), {"multi_agent": [content]})
    assert found.kind.name == "rec_multi_session"
    joined = "; ".join(both)
    assert found.questions[0].options == ("Film 0", joined, "I named nothing.", "Film 1, or so")
    assert (found.questions[0].answer, found.questions[0].gold) == (joined, 2)
    assert found.questions[0].evidence == (
        "participation/rec_multi_session/multi_agent/3/0.0a",
        "participation/rec_multi_session/multi_agent/3/1.3a",
    )
    assert found.questions[0].reason is None


def test_merged_raw_file_is_read_as_one_record_per_trajectory(tmp_path: Path):
    merged = {"simple": {"roles": [sessions(), sessions(1)]}, "noisy": {"events": [sessions()]}}
    files = {"membench/data/FirstAgentDataLowLevel.json": merged}
    names = [f"participation/{name}" for name in ("simple/roles/0", "simple/roles/1", "noisy/events/0")]
    assert ids(read("membench_participation_raw", files, tmp_path)) == names


GOOD = {"simple": {"roles": [sampled("participation")]}}


@pytest.mark.parametrize(
    ("name", "source", "content", "message"),
    [
        ("participation", "membench/LowLevel.json", GOOD, "the path contains neither FirstAgent"),
        ("observation", OBSERVATION, GOOD, "steps that do not belong to the scene observation"),
        ("participation_raw", RAW.format("First", "easy"), {"roles": [sessions()]}, "unknown question kind 'easy'"),
        ("observation_raw", RAW.format("Third", "lowlevel_rec"), {"movie": [messages()]},
         "lowlevel_rec has no scenario 'movie' in observation; its scenarios are none"),
    ],
)  # fmt: skip
def test_reader_rejects_misplaced_file(tmp_path: Path, name: str, source: str, content: Any, message: str):
    with pytest.raises(BadInput, match=message):
        read(f"membench_{name}", {source: content}, tmp_path)
