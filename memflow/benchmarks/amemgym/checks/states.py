"""Functions for AMemGym's checks of state.changes, which return positions of rows; and users' states by period."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from memflow.benchmarks.amemgym.config import AMemGymConfig
from memflow.records import Change, Profile

UserPeriod = tuple[str, int]
"""A user and a period."""


def changes_with_wrong_old_value(changes: Sequence[Change]) -> list[int]:
    """Return the positions of changes that violate the check `old_value_equals_previous_value`."""
    held: dict[tuple[str, str], str] = {}
    found = []
    for at, row in sorted(enumerate(changes), key=lambda each: each[1].period):
        key = (row.user_id, row.variable)
        if row.old != held.get(key) or (row.old is None) != (row.period == 0):
            found.append(at)
        held[key] = row.value
    return found


def changes_in_unordered_periods(changes: Sequence[Change]) -> list[int]:
    """Return the positions of changes that violate the check `periods_are_consecutive`."""
    ends: dict[UserPeriod, str] = {}
    for row in changes:
        ends.setdefault((row.user_id, row.period), row.period_end)

    def follows(row: Change) -> bool:
        before = ends.get((row.user_id, row.period - 1), "" if row.period == 0 else None)
        return before is not None and before < row.period_end == ends[row.user_id, row.period]

    return [at for at, row in enumerate(changes) if not follows(row)]


def initial_changes_off_start_date(changes: Sequence[Change], profiles: Sequence[Profile]) -> list[int]:
    """Return the positions of changes of period 0 whose period does not end on the user's start date."""
    starts = {row.user_id: row.start_date for row in profiles}
    return [
        at for at, row in enumerate(changes) if row.period == 0 and starts.get(row.user_id) != row.period_end
    ]


def changes_with_wrong_count(config: AMemGymConfig, changes: Sequence[Change]) -> list[int]:
    """Return the positions of changes that violate the check `change_count_per_period_within_1_of_configured`."""
    variables = Counter(row.user_id for row in changes if row.period == 0)
    counts = Counter((row.user_id, row.period) for row in changes)

    def fits(row: Change) -> bool:
        wanted = min(config.changes_per_period, variables[row.user_id])
        return row.period == 0 or abs(counts[row.user_id, row.period] - wanted) <= 1

    return [at for at, row in enumerate(changes) if not fits(row)]


def changes_above_limit(config: AMemGymConfig, changes: Sequence[Change]) -> list[int]:
    """Return the positions of changes of a variable after its first `max_changes_per_variable` changes."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for at, row in sorted(enumerate(changes), key=lambda each: each[1].period):
        if row.period == 0:
            continue
        seen[row.user_id, row.variable] += 1
        if seen[row.user_id, row.variable] > config.max_changes_per_variable:
            found.append(at)
    return found


def changes_in_wrong_last_period(config: AMemGymConfig, changes: Sequence[Change]) -> list[int]:
    """Return the positions of changes that violate the check `period_count_as_configured`."""
    last: dict[str, int] = {}
    for row in changes:
        last[row.user_id] = max(last.get(row.user_id, 0), row.period)
    return [
        at
        for at, row in enumerate(changes)
        if row.period == last[row.user_id] and row.period != config.periods - 1
    ]


def states_at(changes: Sequence[Change]) -> dict[UserPeriod, dict[str, str]]:
    """Return the state of every user at the end of every period, up to the period of the user's last change."""
    by_period: dict[str, dict[int, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for row in changes:
        by_period[row.user_id][row.period][row.variable] = row.value
    found = {}
    for user, periods in by_period.items():
        state: dict[str, str] = {}
        for period in range(1 + max(periods)):
            state = state | periods.get(period, {})
            found[user, period] = state
    return found


def period_ends(changes: Sequence[Change]) -> dict[UserPeriod, datetime]:
    """Return the last day of each period of each user; invalid dates are omitted."""
    ends = {}
    for row in changes:
        moment = parse_time(row.period_end)
        if moment is not None:
            ends[row.user_id, row.period] = moment
    return ends


def parse_time(text: str | None) -> datetime | None:
    """Return a simulated time, or None if the text is no time or has a time zone."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is None else None
