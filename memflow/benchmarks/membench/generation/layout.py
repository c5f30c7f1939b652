"""The order and the times of the steps of a planned trajectory.

Sessions are some hours to a day apart, and rounds of a session one minute (paper, section 3.1). Observed messages are
hours apart. No session starts at night. In contrast, times in the published data sometimes decrease.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from memflow.benchmarks.membench.generation.plans import PlannedSession, TrajectoryPlan
from memflow.fingerprint import seeded

WAKES, SLEEPS = 7, 22
"""Hours between which a session starts or an observed message is sent."""
_HOURS = 10.0, 5.0
"""Mean and standard deviation of hours between sessions, as in MemSim; clipped to 1 to 23, longer over night."""


@dataclass(frozen=True)
class StepSlot:
    """A step without text: a planned message, or round number `filler` of the conversation between planned messages."""

    session: int
    message: int | None
    filler: int | None = None


def lay_out(plan: TrajectoryPlan, start: datetime, seed: int) -> list[tuple[StepSlot, datetime]]:
    """Return the slot and the time of each step in order. The first time is `start`."""
    rng = random.Random(seeded(seed, plan.trajectory_id, "layout"))
    clock = random.Random(seeded(seed, plan.trajectory_id, "clock"))
    found: list[tuple[StepSlot, datetime]] = []
    moment = start
    for number, session in enumerate(plan.sessions):
        within_minutes = plan.scene == "participation" or session.within_minutes
        for step, slot in enumerate(_slots(number, session, rng)):
            if found and within_minutes and step > 0:
                moment += timedelta(minutes=1)
            elif found:
                moment = sample_later_time(moment, clock)
            found.append((slot, moment))
    return found


def sample_later_time(moment: datetime, rng: random.Random) -> datetime:
    """Return a random time some hours after `moment`, during the day."""
    hours = min(max(rng.gauss(*_HOURS), 1.0), 23.0)
    then = moment + timedelta(minutes=round(60 * hours))
    if then.hour >= SLEEPS:
        then += timedelta(days=1)
    return then.replace(hour=WAKES) if not WAKES <= then.hour < SLEEPS else then


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
    messages, rounds = iter(range(len(session.messages))), iter(range(session.rounds))
    told = set(rng.sample(range(length), len(session.messages)))
    for place in range(length):
        yield StepSlot(number, next(messages)) if place in told else StepSlot(number, None, next(rounds))
