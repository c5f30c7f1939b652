"""Assignment of an order and of times to the steps of a planned trajectory, before the texts are generated."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from memflow.benchmarks.membench.generation.plans import PlannedSession, TrajectoryPlan
from memflow.benchmarks.membench.generation.timeline import sample_times
from memflow.benchmarks.membench.turns import ChoiceQuestion, Step, Trajectory
from memflow.benchmarks.membench.wording import format_time
from memflow.fingerprint import seeded


@dataclass(frozen=True)
class StepSlot:
    """A step without text: a planned message, or round number `filler` of the conversation between planned messages."""

    session: int
    message: int | None
    filler: int | None = None


@dataclass(frozen=True)
class TrajectoryLayout:
    """A trajectory without texts, and the slot of each step."""

    trajectory: Trajectory
    slots: tuple[StepSlot, ...]

    @property
    def last(self) -> str:
        """The id of the last user message of the trajectory."""
        return self.trajectory.message_id(len(self.slots) - 1)

    def with_question(self, question: ChoiceQuestion) -> Trajectory:
        """Return the trajectory with this question."""
        return replace(self.trajectory, questions=(question,))

    def evidence(self, plan: TrajectoryPlan) -> tuple[str, ...]:
        """Return the ids of the evidence messages in order of time."""
        told = {
            (slot.session, slot.message): step for step, slot in enumerate(self.slots) if slot.filler is None
        }
        steps = sorted(told[pair] for pair in plan.query.evidence)
        return tuple(self.trajectory.evidence_id(step) for step in steps)


def lay_out(plan: TrajectoryPlan, dataset: str, start: datetime, seed: int) -> TrajectoryLayout:
    """Return a plan as a trajectory without texts. `dataset` is the data set of its probes."""
    rng = random.Random(seeded(seed, plan.trajectory_id, "layout"))
    sessions = [list(_slots(number, session, rng)) for number, session in enumerate(plan.sessions)]
    clock = random.Random(seeded(seed, plan.trajectory_id, "clock"))
    within_minutes = [number for number, session in enumerate(plan.sessions) if session.within_minutes]
    moments = sample_times([len(slots) for slots in sessions], plan.scene, start, clock, within_minutes)
    spoken = "" if plan.scene == "participation" else None
    steps = tuple(
        Step(
            user="",
            assistant=spoken,
            session=slot.session,
            sent_at=format_time(moment, plan.language),
            exposes=None
            if slot.filler is not None
            else plan.sessions[slot.session].messages[slot.message or 0].exposes,
        )
        for slots, times in zip(sessions, moments, strict=True)
        for slot, moment in zip(slots, times, strict=True)
    )
    trajectory = Trajectory(
        trajectory_id=plan.trajectory_id,
        dataset=dataset,
        scene=plan.scene,
        kind=plan.kind,
        scenario=plan.scenario,
        language=plan.language,
        steps=steps,
    )
    return TrajectoryLayout(trajectory, tuple(slot for slots in sessions for slot in slots))


def _slots(number: int, session: PlannedSession, rng: random.Random) -> Iterator[StepSlot]:
    """Yield one slot for each message and each filler round of a session, in order.

    If the plan gives the number of fillers for each message, they follow the message; otherwise the order is random.
    """
    if session.fillers:
        for message, fillers in enumerate(session.fillers):
            yield StepSlot(number, message)
            yield from (StepSlot(number, message, filler) for filler in range(fillers))
        return
    length = session.rounds + len(session.messages)
    told = set(rng.sample(range(length), len(session.messages)))
    message, filler = 0, 0
    for place in range(length):
        if place in told:
            yield StepSlot(number, message)
            message += 1
        else:
            yield StepSlot(number, None, filler)
            filler += 1
