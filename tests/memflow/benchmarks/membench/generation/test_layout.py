"""Layout of a trajectory: every message and round occurs once, in order, at increasing times."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.membench.generation.layout import StepSlot, lay_out
from memflow.benchmarks.membench.generation.plans import (
    PlannedMessage,
    PlannedQuestion,
    PlannedSession,
    TrajectoryPlan,
)
from memflow.benchmarks.membench.generation.timeline import parse_time
from memflow.benchmarks.membench.kinds import KINDS

START = datetime(2024, 10, 1, 8, 0)


def plan_of(scene, sessions, evidence) -> TrajectoryPlan:
    query = PlannedQuestion("?", "!", evidence)
    return TrajectoryPlan(
        "u/simple/roles/0", "u", scene, KINDS["simple"], "roles", "en", tuple(sessions), query
    )


@st.composite
def plans(draw) -> TrajectoryPlan:
    scene = draw(st.sampled_from(["participation", "observation"]))
    sessions = []
    for _ in range(draw(st.integers(1, 6))):
        messages = tuple(PlannedMessage(f"Beat {at}.") for at in range(draw(st.integers(1, 5))))
        fillers = tuple(draw(st.integers(0, 3)) for _ in messages) if draw(st.booleans()) else ()
        rounds = draw(st.integers(0, 8)) if scene == "participation" and not fillers else 0
        sessions.append(PlannedSession("it", messages, fillers=fillers, rounds=rounds))
    pairs = [(number, at) for number, session in enumerate(sessions) for at in range(len(session.messages))]
    evidence = tuple(draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True)))
    return plan_of(scene, sessions, evidence)


@given(plans(), st.integers(0, 10**6))
def test_layout_contains_each_planned_message_once_in_order(plan, seed):
    layout = lay_out(plan, "made", START, seed)
    messages = [(slot.session, slot.message) for slot in layout.slots if slot.filler is None]
    assert messages == [
        (number, at) for number, session in enumerate(plan.sessions) for at in range(len(session.messages))
    ]
    for number, session in enumerate(plan.sessions):
        around = [slot for slot in layout.slots if slot.session == number and slot.filler is not None]
        assert len(around) == session.rounds + sum(session.fillers)
        if session.fillers:
            here = [slot for slot in layout.slots if slot.session == number]
            assert here == [
                StepSlot(number, message, filler)
                for message, fillers in enumerate(session.fillers)
                for filler in (None, *range(fillers))
            ]
        else:
            assert [slot.filler for slot in around] == list(range(session.rounds))


@given(plans(), st.integers(0, 10**6))
def test_layout_has_increasing_times_and_evidence_in_message_order(plan, seed):
    layout = lay_out(plan, "made", START, seed)
    moments = [parse_time(step.sent_at) for step in layout.trajectory.steps]
    assert moments == sorted(set(moments))
    messages = [layout.trajectory.message_id(step) for step in range(len(layout.slots))]
    found = layout.evidence(plan)
    assert len(found) == len(plan.query.evidence) and list(found) == sorted(found, key=messages.index)
    for message in found:
        slot = layout.slots[messages.index(message)]
        assert slot.filler is None and (slot.session, slot.message) in plan.query.evidence


def test_position_of_message_over_60_seeds_covers_whole_session():
    session = PlannedSession("it", (PlannedMessage("Beat."),), rounds=3)
    plan = plan_of("participation", [session], ((0, 0),))
    places = {lay_out(plan, "made", START, seed).slots.index(StepSlot(0, 0)) for seed in range(60)}
    assert places == {0, 1, 2, 3}
