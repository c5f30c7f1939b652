"""The frame of a trajectory: every beat and round once, in order, at times that go on."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.membench.generation.layout import Slot, framed
from memflow.benchmarks.membench.generation.plans import Beat, Plan, Query, Talk
from memflow.benchmarks.membench.generation.timeline import read
from memflow.benchmarks.membench.kinds import KINDS

START = datetime(2024, 10, 1, 8, 0)


@st.composite
def drawn(draw) -> Plan:
    scene = draw(st.sampled_from(["participation", "observation"]))
    talks = []
    for _ in range(draw(st.integers(1, 6))):
        beats = tuple(Beat(f"Beat {at}.") for at in range(draw(st.integers(1, 5))))
        if draw(st.booleans()):
            talks.append(Talk("it", beats, fillers=tuple(draw(st.integers(0, 3)) for _ in beats)))
        else:
            talks.append(Talk("it", beats, rounds=draw(st.integers(0, 8)) if scene == "participation" else 0))
    pairs = [(number, at) for number, talk in enumerate(talks) for at in range(len(talk.beats))]
    evidence = tuple(draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True)))
    query = Query("?", "!", evidence)
    return Plan("u/simple/roles/0", "u", scene, KINDS["simple"], "roles", "en", tuple(talks), query)


@given(drawn(), st.integers(0, 10**6))
def test_all_is_told_once_and_in_order(plan, seed):
    frame = framed(plan, "made", START, seed)
    beats = [(slot.talk, slot.beat) for slot in frame.slots if slot.filler is None]
    assert beats == [(number, at) for number, talk in enumerate(plan.talks) for at in range(len(talk.beats))]
    for number, talk in enumerate(plan.talks):
        around = [slot for slot in frame.slots if slot.talk == number and slot.filler is not None]
        assert len(around) == talk.rounds + sum(talk.fillers)
        if talk.fillers:
            here = [slot for slot in frame.slots if slot.talk == number]
            assert here == [
                Slot(number, beat, filler)
                for beat, fillers in enumerate(talk.fillers)
                for filler in (None, *range(fillers))
            ]
        else:
            assert [slot.filler for slot in around] == list(range(talk.rounds))


@given(drawn(), st.integers(0, 10**6))
def test_times_go_on_and_evidence_is_named_in_its_order(plan, seed):
    frame = framed(plan, "made", START, seed)
    moments = [read(step.sent_at) for step in frame.trajectory.steps]
    assert moments == sorted(set(moments))
    messages = [frame.trajectory.message_id(step) for step in range(len(frame.slots))]
    found = frame.evidence(plan)
    assert len(found) == len(plan.query.evidence) and list(found) == sorted(found, key=messages.index)
    for message in found:
        slot = frame.slots[messages.index(message)]
        assert slot.filler is None and (slot.talk, slot.beat) in plan.query.evidence


def test_beats_come_to_stand_everywhere():
    talk = Talk("it", (Beat("Beat."),), rounds=3)
    places = {
        framed(
            Plan("u/simple/roles/0", "u", "participation", KINDS["simple"], "roles", "en", (talk,), query),
            "made",
            START,
            seed,
        ).slots.index(Slot(0, 0))
        for query in [Query("?", "!", ((0, 0),))]
        for seed in range(60)
    }
    assert places == {0, 1, 2, 3}
