"""Sessions that are at fault: in what they tell, and in when."""

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, time, timedelta

from memflow.benchmarks.amemgym.checks.states import At, ends_of, moment_of, states_at
from memflow.records import Change, Turn

EVENING = time(19), time(22)
"""Between these times sessions begin, as published."""


def untold(changes: Sequence[Change], turns: Sequence[Turn]) -> list[int]:
    """Changes that no session of their period tells."""
    told = {(turn.episode_id, turn.checkpoint, name) for turn in turns for name in _told(turn)}
    return [at for at, row in enumerate(changes) if (row.user_id, row.period, row.variable) not in told]


def unchanged(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Sessions that tell of a variable which does not change in their period."""
    moved = {(row.user_id, row.period, row.variable) for row in changes}
    return [
        at
        for at, turn in enumerate(turns)
        if any((turn.episode_id, turn.checkpoint, name) not in moved for name in _told(turn))
    ]


def untrue(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Sessions that tell another value than the variable has at the end of their period."""
    states = states_at(changes)

    def true(turn: Turn) -> bool:
        state = states.get((turn.episode_id, turn.checkpoint), {})
        return all(state.get(name, value) == value for name, value in _told(turn).items())

    return [at for at, turn in enumerate(turns) if not true(turn)]


def told_again(turns: Sequence[Turn]) -> list[int]:
    """Sessions that tell what an earlier one of their period told."""
    seen: set[tuple[str, int, str]] = set()
    found = []
    for at, turn in sorted(enumerate(turns), key=lambda each: each[1].event):
        told = {(turn.episode_id, turn.checkpoint, name) for name in _told(turn)}
        if told & seen:
            found.append(at)
        seen |= told
    return found


def out_of_time(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Sessions that are not dated, not in their period, or not after the one before."""
    ends = ends_of(changes)
    before: dict[str, datetime] = {}
    found = []
    for at, turn in _sessions(turns):
        end = ends.get((turn.episode_id, turn.checkpoint))
        if end is None:
            continue
        moment = moment_of(turn.sent_at)
        start = ends.get((turn.episode_id, turn.checkpoint - 1))
        if (
            moment is None
            or moment.date() > end.date()
            or (start is not None and moment.date() <= start.date())
            or moment <= before.get(turn.episode_id, datetime.min)
        ):
            found.append(at)
        else:
            before[turn.episode_id] = moment
    return found


def not_on_the_last_days(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Sessions that are not on their own of as many last days of the period as it has sessions."""
    ends = ends_of(changes)
    by_period: dict[At, list[int]] = defaultdict(list)
    for at, turn in _sessions(turns):
        by_period[turn.episode_id, turn.checkpoint].append(at)
    found = []
    for key, here in by_period.items():
        for left, at in enumerate(reversed(here)):
            moment = moment_of(turns[at].sent_at)
            if key in ends and (moment is None or moment.date() != ends[key].date() - timedelta(days=left)):
                found.append(at)
    return found


def not_in_the_evening(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Sessions that begin at another time of the day than published ones."""
    ends = ends_of(changes)
    found = []
    for at, turn in enumerate(turns):
        moment = moment_of(turn.sent_at)
        evening = moment is not None and EVENING[0] <= moment.time() <= EVENING[1]
        if (turn.episode_id, turn.checkpoint) in ends and not evening:
            found.append(at)
    return found


def _sessions(turns: Sequence[Turn]) -> list[tuple[int, Turn]]:
    """The first message of every session, in order, with its place in the table: a recorded one has more."""
    first = [(at, turn) for at, turn in enumerate(turns) if turn.position == 0]
    return sorted(first, key=lambda each: each[1].event)


def _told(turn: Turn) -> dict[str, str]:
    found = json.loads(turn.exposes or "{}")
    return found if isinstance(found, dict) else {}
