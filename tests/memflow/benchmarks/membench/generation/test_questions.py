"""Wording of questions: options, gold positions, times, and reasons for failures."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from memflow.benchmarks.membench.examination.quantities import moment_in
from memflow.benchmarks.membench.generation.dialogues import word_trajectory
from memflow.benchmarks.membench.generation.plans import PlannedMessage
from memflow.benchmarks.membench.generation.questions import word_question
from memflow.benchmarks.membench.turns import turn_rows
from memflow.benchmarks.membench.wording import parse_time
from memflow.errors import BadInput

START = datetime(2024, 10, 1, 8, 0)


async def worded(plan, chat, seed=1, telling=None):
    trajectory = await word_trajectory(plan, "made", START, ["Boston"], seed, telling or chat)
    turns = list(turn_rows("d", trajectory))
    question = await word_question(plan, turns, seed, chat)
    return question, {turn.message_id: turn for turn in turns}


async def test_worded_question_has_evidence_four_options_and_later_time(planned, simulator):
    question, said = await worded(planned(rounds=2), simulator())
    assert question.reason is None and question.question.endswith("How old is my niece?")
    assert question.options[question.gold - 1] == question.answer == "28 years old"
    assert len(set(question.options)) == 4
    assert all("28 years old" in said[message].text for message in question.evidence)
    assert len(question.evidence) == 2
    assert parse_time(question.asked_at) > max(parse_time(turn.sent_at) for turn in said.values())


SOON = "nine days from today at 7:00 PM"
LATER = tuple(f"{days} days from today at 9:00 AM" for days in ("two", "four", "nine"))


def dated(plan, at):
    """Return a plan whose message at (session, message) states a relative time that the question asks for."""
    exposes = {"entity": "fair", "attribute": "time", "value": SOON}
    stating = PlannedMessage(f"The fair begins {SOON}.", required_words=(SOON,), exposes=exposes)
    sessions = [list(session.messages) for session in plan.sessions]
    sessions[at[0]][at[1]] = stating
    return replace(
        plan,
        sessions=tuple(
            replace(session, messages=tuple(messages))
            for session, messages in zip(plan.sessions, sessions, strict=True)
        ),
        query=replace(plan.query, answer=SOON, wrong=LATER, dated=True),
    )


@pytest.mark.parametrize("at", [(0, 1), (1, 0)])
async def test_relative_date_is_counted_from_the_evidence_message_that_states_it(planned, simulator, at):
    question, said = await worded(dated(planned("observation"), at), simulator())
    sent = [parse_time(said[message].sent_at) for message in question.evidence]
    assert len(sent) == 2 and sent[0].date() < sent[1].date()
    due = (sent[at[0]] + timedelta(days=9)).replace(hour=19, minute=0)
    assert moment_in(question.answer) == due
    assert question.options[question.gold - 1] == question.answer
    dates = {moment_in(option) for option in question.options}
    assert len(dates) == 4 and due - timedelta(days=1) not in dates


@pytest.mark.parametrize(
    ("stem", "said", "reason"),
    [
        ("question", {"text": "How old is she?"}, 'have to stand in it as they are: "niece"'),
        ("question", {"text": "Is my niece 28 years old?"}, "it gives the answer away: 28 years old"),
        ("murmur", {"text": "Being 28 years old is fine."}, "it gives the answer away"),
    ],
)
async def test_question_with_invalid_model_reply_has_reason(planned, simulator, stem, said, reason):
    chat = simulator(**{stem: lambda request: json.dumps(said)})
    question, _ = await worded(planned(aside=True), chat)
    assert reason in question.reason and question.options == ()


async def test_question_of_quarantined_trajectory_is_quarantined_with_reason(planned, simulator):
    telling = simulator(told=lambda request: "nothing")
    question, _ = await worded(planned(), simulator(), telling=telling)
    assert question.reason.startswith("what it asks for could not be told: membench/told")


async def test_message_without_a_valid_time_is_named_with_the_command_that_regenerates(planned, simulator):
    trajectory = await word_trajectory(planned(), "made", START, ["Boston"], 1, simulator())
    turns = [replace(turn, sent_at="noon") for turn in turn_rows("d", trajectory)]
    with pytest.raises(BadInput, match=r"/1\.3a of d has the time 'noon'.*run --domain d --force"):
        await word_question(planned(), turns, 1, simulator())


async def test_option_that_is_no_time_is_named_with_its_question(planned, simulator):
    plan = dated(planned("observation"), (0, 1))
    plan = replace(plan, query=replace(plan.query, wrong=("noon", *LATER[1:])))
    with pytest.raises(
        BadInput, match="the question of u1/simple/roles/0: the value 'noon' is not a time such as"
    ):
        await worded(plan, simulator())
