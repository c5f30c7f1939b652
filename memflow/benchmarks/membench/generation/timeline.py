"""When things are said: times that only ever go on, drawn by seed. And how a time that is written is read.

Sessions lie hours to a day apart, the rounds of one a minute (paper, section 3.1); observed messages lie hours apart.
Nobody begins to speak at night. The published data goes backwards in places: its minutes were drawn anew each time.
"""

import random
import re
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from memflow.benchmarks.membench.generation.values import HOURS
from memflow.benchmarks.membench.kinds import Scene
from memflow.errors import BadInput

WAKES, SLEEPS = 7, 22
"""The hours of the day between which a session begins, or an observed message is sent."""
_HOURS = 10.0, 5.0
"""Mean and deviation of the hours between two sessions, as in MemSim; from 1 to 23, and more where night falls."""
_DIGITS = re.compile(r"\d+")


def sample_times(
    sessions: Sequence[int],
    scene: Scene,
    start: datetime,
    rng: random.Random,
    within_minutes: Collection[int] = (),
) -> tuple[tuple[datetime, ...], ...]:
    """A time for each step of each talk, of which the numbers of steps are given; the first is `start`.

    The talks numbered `at_once` go on minute by minute where one is observed too.
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
    """Some hours after `moment`, at a time at which people are awake."""
    hours = min(max(rng.gauss(*_HOURS), 1.0), 23.0)
    then = moment + timedelta(minutes=round(60 * hours))
    if then.hour >= SLEEPS:
        then += timedelta(days=1)
    return then.replace(hour=WAKES) if not WAKES <= then.hour < SLEEPS else then


def sample_nearby_times(moment: datetime, count: int, rng: random.Random) -> list[datetime]:
    """So many other moments: a week or a few days before or after it, or at another hour of an event's."""
    days = [moment + timedelta(days=by) for by in (-7, 7, -1, 1, -2, 2)]
    hours = [moment.replace(hour=hour) for hour in HOURS if hour != moment.hour]
    return rng.sample([*days, *hours], count)


def parse_time(text: str) -> datetime:
    """The moment that wording.written wrote, in either language. Raises BadInput."""
    try:
        year, month, day, hour, minute = map(int, _DIGITS.findall(text))
        return datetime(year, month, day, hour, minute)
    except ValueError as wrong:
        raise BadInput(f"not a time as MemBench writes them: {text!r}") from wrong
