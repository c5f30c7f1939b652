"""In what order a plan is told, and when: a trajectory without its words, the same wherever it is drawn up."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from memflow.benchmarks.membench.generation.plans import Plan, Talk
from memflow.benchmarks.membench.generation.timeline import times
from memflow.benchmarks.membench.turns import Asked, Step, Trajectory
from memflow.benchmarks.membench.wording import written
from memflow.fingerprint import seeded


@dataclass(frozen=True)
class Slot:
    """A step to be: a beat of a talk, or the round of that number of the talk around them.

    After `beat` in a talk with fillers, `filler` counts that beat's own.
    """

    talk: int
    beat: int | None
    filler: int | None = None


@dataclass(frozen=True)
class Frame:
    """A trajectory whose steps say nothing yet, and what each is to be."""

    trajectory: Trajectory
    slots: tuple[Slot, ...]

    @property
    def last(self) -> str:
        """The id of the last thing that the user says."""
        return self.trajectory.message_id(len(self.slots) - 1)

    def asking(self, asked: Asked) -> Trajectory:
        """The trajectory with what is asked of it."""
        return replace(self.trajectory, asked=(asked,))

    def evidence(self, plan: Plan) -> tuple[str, ...]:
        """The ids of the messages that the answer rests on, in the order in which they are sent."""
        told = {(slot.talk, slot.beat): step for step, slot in enumerate(self.slots) if slot.filler is None}
        steps = sorted(told[pair] for pair in plan.query.evidence)
        return tuple(self.trajectory.told_at(step) for step in steps)


def framed(plan: Plan, dataset: str, start: datetime, seed: int) -> Frame:
    """The frame of a plan. `dataset` is what its probes say they come from."""
    chance = random.Random(seeded(seed, plan.trajectory_id, "layout"))
    talks = [list(_slots(number, talk, chance)) for number, talk in enumerate(plan.talks)]
    clock = random.Random(seeded(seed, plan.trajectory_id, "clock"))
    at_once = [number for number, talk in enumerate(plan.talks) if talk.at_once]
    moments = times([len(slots) for slots in talks], plan.scene, start, clock, at_once)
    spoken = "" if plan.scene == "participation" else None
    steps = tuple(
        Step(
            user="",
            assistant=spoken,
            session=slot.talk,
            sent_at=written(moment, plan.language),
            exposes=None if slot.filler is not None else plan.talks[slot.talk].beats[slot.beat or 0].exposes,
        )
        for slots, held in zip(talks, moments, strict=True)
        for slot, moment in zip(slots, held, strict=True)
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
    return Frame(trajectory, tuple(slot for slots in talks for slot in slots))


def _slots(number: int, talk: Talk, chance: random.Random) -> Iterator[Slot]:
    """A talk's steps: beats and rounds mixed by chance, in their order each; or each beat with its fillers after it."""
    if talk.fillers:
        for beat, fillers in enumerate(talk.fillers):
            yield Slot(number, beat)
            yield from (Slot(number, beat, filler) for filler in range(fillers))
        return
    length = talk.rounds + len(talk.beats)
    told = set(chance.sample(range(length), len(talk.beats)))
    beat, filler = 0, 0
    for place in range(length):
        if place in told:
            yield Slot(number, beat)
            beat += 1
        else:
            yield Slot(number, None, filler)
            filler += 1
