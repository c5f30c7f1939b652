"""The first stage at which a probe differs between two evaluations."""

import factories

from memflow.records import Probe, Reply, TranscriptMessage
from memflow.scoring.stages import EvaluationRows, first_stages, stages_of_metric


def said(text: str, at: int, origin: str = "given", checkpoint: int = 0, **columns: str) -> TranscriptMessage:
    return factories.transcript_message(
        message_id=f"m{at}", text=text, sequence=at, origin=origin, checkpoint=checkpoint, **columns
    )


def rows(
    messages: list[TranscriptMessage], probes: list[Probe], replies: list[Reply], **bases: str
) -> EvaluationRows:
    return EvaluationRows(probes, messages, replies, bases)


PROBES = [factories.probe(probe_id=f"p{at}", checkpoint=at) for at in range(2)]
REPLIES = [factories.reply(probe_id=f"p{at}", text="1", parsed="1", checkpoint=at) for at in range(2)]
MESSAGES = [said("hello", 0), said("hi", 1, "assistant"), said("bye", 2, "simulator", 1)]
BEFORE = rows(MESSAGES, PROBES, REPLIES)


def test_equal_evaluations_have_no_stage() -> None:
    assert first_stages(BEFORE, BEFORE) == {}


def test_other_question_or_missing_probe_is_a_change_of_users() -> None:
    other = factories.probe(probe_id="p0", checkpoint=0, question="another?")
    assert first_stages(BEFORE, rows(MESSAGES, [other], REPLIES)) == {"p0": "users", "p1": "users"}


def test_other_message_concerns_only_the_probes_after_it() -> None:
    later = [*MESSAGES[:2], said("see you", 2, "simulator", 1)]
    assert first_stages(BEFORE, rows(later, PROBES, REPLIES)) == {"p1": "users"}


def test_first_message_decides_where_the_simulator_reacts_to_another_reply_of_the_assistant() -> None:
    other = [MESSAGES[0], said("hi!", 1, "assistant"), said("oh", 2, "simulator", 1)]
    assert first_stages(BEFORE, rows(other, PROBES, REPLIES)) == {"p0": "answers", "p1": "answers"}


def test_other_message_of_the_base_episode_concerns_all_probes_of_an_episode() -> None:
    derived = [factories.probe(probe_id="p5", episode_id="u2", checkpoint=0)]
    before = rows(MESSAGES, derived, [], u2="u1")
    after = rows([said("good day", 0), *MESSAGES[1:]], derived, [], u2="u1")
    assert first_stages(before, after) == {"p5": "users"}


def test_earliest_difference_decides_among_base_episodes() -> None:
    probes = [factories.probe(probe_id="p5", episode_id="u3", checkpoint=0)]
    hi, other_hi = (said(text, 1, "assistant", episode_id="u2") for text in ("hi", "hi!"))
    before = rows([said("hello", 0), hi], probes, [], u2="u1", u3="u2")
    for hello, stage in (("hello", "answers"), ("good day", "users")):
        after = rows([said(hello, 0), other_hi], probes, [], u2="u1", u3="u2")
        assert first_stages(before, after) == {"p5": stage}


def test_other_reply_to_an_equal_history_is_a_change_of_answers() -> None:
    replies = [factories.reply(probe_id="p0", text="2", parsed="2"), REPLIES[1]]
    assert first_stages(BEFORE, rows(MESSAGES, PROBES, replies)) == {"p0": "answers"}


def test_other_value_of_an_equal_reply_is_judging() -> None:
    assert stages_of_metric("accuracy", {"p1": "answers"}, {}, ["p0", "p1"]) == {
        "p0": "judging",
        "p1": "answers",
    }


def test_failure_rate_changes_with_the_other_replies_of_the_episode() -> None:
    episodes = {"p0": "u1", "p1": "u1", "p2": "u2"}
    found = stages_of_metric("read_failure", {"p1": "answers"}, episodes, ["p0", "p2"])
    assert found == {"p0": "answers", "p1": "answers", "p2": "judging"}


def test_message_after_the_question_within_its_checkpoint_does_not_concern_it() -> None:
    early = [factories.probe(probe_id="p1", checkpoint=1, after="m1")]
    later = [*MESSAGES[:2], said("see you", 2, "simulator", 1)]
    assert first_stages(rows(MESSAGES, early, REPLIES), rows(later, early, REPLIES)) == {}
