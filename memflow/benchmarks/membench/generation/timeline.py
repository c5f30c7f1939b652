"""Increasing random times of messages.

Sessions are some hours to a day apart, and rounds of a session one minute (paper, section 3.1). Observed messages are
hours apart. No session starts at night. In contrast, times in the published data sometimes decrease.
"""

import random
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from memflow.benchmarks.membench.kinds import Scene

WAKES, SLEEPS = 7, 22
"""Hours between which a session starts or an observed message is sent."""
_HOURS = 10.0, 5.0
"""Mean and standard deviation of hours between sessions, as in MemSim; clipped to 1 to 23, longer over night."""


def sample_times(
    sessions: Sequence[int],
    scene: Scene,
    start: datetime,
    rng: random.Random,
    within_minutes: Collection[int] = (),
) -> tuple[tuple[datetime, ...], ...]:
    """Return the times of all steps by session, given the number of steps of each session. The first time is `start`.

    In the sessions listed in `within_minutes`, observed messages are one minute apart.
    """
    found: list[list[datetime]] = []
    last = start
    for number, steps in enumerate(sessions):
        within = scene == "participation" or number in within_minutes
        found.append([])
        for step in range(steps):
            if within and step > 0:
                last += timedelta(minutes=1)
            elif any(found):
                last = sample_later_time(last, rng)
            found[-1].append(last)
    return tuple(map(tuple, found))


def sample_later_time(moment: datetime, rng: random.Random) -> datetime:
    """Return a random time some hours after `moment`, during the day."""
    hours = min(max(rng.gauss(*_HOURS), 1.0), 23.0)
    then = moment + timedelta(minutes=round(60 * hours))
    if then.hour >= SLEEPS:
        then += timedelta(days=1)
    return then.replace(hour=WAKES) if not WAKES <= then.hour < SLEEPS else then
