"""Functions for AMemGym's checks of sessions in utterance.turns: values that a message exposes, and times."""

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, time, timedelta

from memflow.benchmarks.amemgym.checks.states import UserPeriod, parse_time, period_ends, states_at
from memflow.records import Change, Turn

EVENING = time(19), time(22)
"""Earliest and latest start of a published session."""


def unexposed_changes(changes: Sequence[Change], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of changes that no session of the same period exposes.

    A period is skipped if the exposed values of any of its sessions are unknown.
    """
    told = {(turn.episode_id, turn.checkpoint, name) for turn in turns for name in _exposed(turn)}
    unknown = {(turn.episode_id, turn.checkpoint) for _, turn in _sessions(turns) if turn.exposes is None}
    return [
        at
        for at, row in enumerate(changes)
        if (row.user_id, row.period) not in unknown and (row.user_id, row.period, row.variable) not in told
    ]


def turns_with_unchanged_values(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Return the positions of sessions that expose a variable whose value does not change in the period."""
    moved = {(row.user_id, row.period, row.variable) for row in changes}
    return [
        at
        for at, turn in enumerate(turns)
        if any((turn.episode_id, turn.checkpoint, name) not in moved for name in _exposed(turn))
    ]


def turns_with_wrong_values(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Return the positions of sessions that expose a value other than the state at the end of their period."""
    states = states_at(changes)

    def matches(turn: Turn) -> bool:
        state = states.get((turn.episode_id, turn.checkpoint), {})
        return all(state.get(name, value) == value for name, value in _exposed(turn).items())

    return [at for at, turn in enumerate(turns) if not matches(turn)]


def turns_repeating_values(turns: Sequence[Turn]) -> list[int]:
    """Return the positions of sessions that expose a variable which an earlier session of the period exposes."""
    seen: set[tuple[str, int, str]] = set()
    found = []
    for at, turn in sorted(enumerate(turns), key=lambda each: each[1].event):
        told = {(turn.episode_id, turn.checkpoint, name) for name in _exposed(turn)}
        if told & seen:
            found.append(at)
        seen |= told
    return found


def turns_out_of_order(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Return the positions of sessions that violate the check `sessions_in_time_order_within_period`."""
    ends = period_ends(changes)
    before: dict[str, datetime] = {}
    found = []
    for at, turn in _sessions(turns):
        end = ends.get((turn.episode_id, turn.checkpoint))
        if end is None:
            continue
        moment = parse_time(turn.sent_at)
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


def turns_off_last_days(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Return the positions of sessions that do not lie on consecutive days ending on the last day of their period."""
    ends = period_ends(changes)
    by_period: dict[UserPeriod, list[int]] = defaultdict(list)
    for at, turn in _sessions(turns):
        by_period[turn.episode_id, turn.checkpoint].append(at)
    found = []
    for key, here in by_period.items():
        for left, at in enumerate(reversed(here)):
            moment = parse_time(turns[at].sent_at)
            if key in ends and (moment is None or moment.date() != ends[key].date() - timedelta(days=left)):
                found.append(at)
    return found


def turns_outside_evening(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Return the positions of sessions that start before 19:00 or after 22:00, unlike the published sessions."""
    ends = period_ends(changes)
    found = []
    for at, turn in enumerate(turns):
        moment = parse_time(turn.sent_at)
        evening = moment is not None and EVENING[0] <= moment.time() <= EVENING[1]
        if (turn.episode_id, turn.checkpoint) in ends and not evening:
            found.append(at)
    return found


def _sessions(turns: Sequence[Turn]) -> list[tuple[int, Turn]]:
    """Yield (row position, turn) for the first message of every session, in order."""
    first = [(at, turn) for at, turn in enumerate(turns) if turn.position == 0]
    return sorted(first, key=lambda each: each[1].event)


def _exposed(turn: Turn) -> dict[str, str]:
    found = json.loads(turn.exposes or "{}")
    return found if isinstance(found, dict) else {}
