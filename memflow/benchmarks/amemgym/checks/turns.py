"""Functions for AMemGym's checks of sessions in utterance.turns: values that a message exposes, and times."""

from collections.abc import Sequence
from datetime import datetime

from memflow.benchmarks.amemgym.checks.states import parse_time, period_ends
from memflow.benchmarks.amemgym.states import exposed_values
from memflow.records import Change, Turn


def unexposed_changes(changes: Sequence[Change], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of changes that no session of the same period exposes.

    A period is skipped if the exposed values of any of its sessions are unknown.
    """
    exposed = {(turn.episode_id, turn.checkpoint, name) for turn in turns for name in exposed_values(turn)}
    unknown_periods = {
        (turn.episode_id, turn.checkpoint) for _, turn in _sessions(turns) if turn.exposes is None
    }
    return [
        position
        for position, row in enumerate(changes)
        if (row.user_id, row.period) not in unknown_periods
        and (row.user_id, row.period, row.variable) not in exposed
    ]


def turns_with_other_values(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Return the positions of sessions that expose a value which no change of the period brings."""
    change_keys = {(row.user_id, row.period, row.variable, row.value) for row in changes}
    return [
        position
        for position, turn in enumerate(turns)
        for exposed in [exposed_values(turn).items()]
        if any((turn.episode_id, turn.checkpoint, *pair) not in change_keys for pair in exposed)
    ]


def turns_out_of_order(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Return the positions of sessions that violate the check `sessions_in_time_order_within_period`."""
    end_dates = period_ends(changes)
    latest_times: dict[str, datetime] = {}
    positions = []
    for position, turn in _sessions(turns):
        end = end_dates.get((turn.episode_id, turn.checkpoint))
        if end is None:
            continue
        moment = parse_time(turn.sent_at)
        start = end_dates.get((turn.episode_id, turn.checkpoint - 1))
        if (
            moment is None
            or moment.date() > end.date()
            or (start is not None and moment.date() <= start.date())
            or moment <= latest_times.get(turn.episode_id, datetime.min)
        ):
            positions.append(position)
        else:
            latest_times[turn.episode_id] = moment
    return positions


def _sessions(turns: Sequence[Turn]) -> list[tuple[int, Turn]]:
    """Return (row position, turn) for the first message of every session, in the order of events."""
    numbered_openings = [(position, turn) for position, turn in enumerate(turns) if turn.position == 0]
    return sorted(numbered_openings, key=lambda numbered: numbered[1].event)
