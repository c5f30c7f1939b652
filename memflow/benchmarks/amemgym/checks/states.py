"""Functions for AMemGym's checks of state.changes, which return positions of rows; and users' states by period."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from memflow.records import Change, Profile

UserPeriod = tuple[str, int]
"""A user and a period."""


def changes_with_wrong_old_value(changes: Sequence[Change]) -> list[int]:
    """Return the positions of changes that violate the check `old_value_equals_previous_value`."""
    values: dict[tuple[str, str], str] = {}
    positions = []
    for position, row in sorted(enumerate(changes), key=lambda numbered: numbered[1].period):
        key = (row.user_id, row.variable)
        if row.old != values.get(key) or (row.old is None) != (row.period == 0):
            positions.append(position)
        values[key] = row.value
    return positions


def changes_in_unordered_periods(changes: Sequence[Change]) -> list[int]:
    """Return the positions of changes that violate the check `periods_are_consecutive`."""
    end_dates: dict[UserPeriod, str] = {}
    for row in changes:
        end_dates.setdefault((row.user_id, row.period), row.period_end)

    def violates(row: Change) -> bool:
        if row.period_end != end_dates[row.user_id, row.period]:
            return True  # the rows of one period have different ends
        if row.period == 0:
            return not row.period_end
        previous_end = end_dates.get((row.user_id, row.period - 1))
        return previous_end is None or row.period_end <= previous_end

    return [position for position, row in enumerate(changes) if violates(row)]


def initial_changes_off_start_date(changes: Sequence[Change], profiles: Sequence[Profile]) -> list[int]:
    """Return the positions of changes of period 0 whose period does not end on the user's start date."""
    starts = {row.user_id: row.start_date for row in profiles}
    return [
        position
        for position, row in enumerate(changes)
        if row.period == 0 and starts.get(row.user_id) != row.period_end
    ]


def states_at(changes: Sequence[Change]) -> dict[UserPeriod, dict[str, str]]:
    """Return the values by variable at the end of each (user, period), up to the period of the user's last change."""
    changes_by_user: dict[str, dict[int, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for row in changes:
        changes_by_user[row.user_id][row.period][row.variable] = row.value
    states = {}
    for user, periods in changes_by_user.items():
        state: dict[str, str] = {}
        for period in range(1 + max(periods)):
            state = state | periods.get(period, {})
            states[user, period] = state
    return states


def period_ends(changes: Sequence[Change]) -> dict[UserPeriod, datetime]:
    """Return the last day of each period by (user, period); invalid dates are omitted."""
    end_dates = {}
    for row in changes:
        moment = parse_time(row.period_end)
        if moment is not None:
            end_dates[row.user_id, row.period] = moment
    return end_dates


def parse_time(text: str | None) -> datetime | None:
    """Return a simulated time, or None if the text is no time or has a time zone."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is None else None
