"""Changes that are at fault, alone or beside the domain's parameters; and what the changes come to."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from memflow.benchmarks.amemgym.config import Sizes
from memflow.records import Change, Profile

At = tuple[str, int]
"""A user and a period."""


def out_of_line(changes: Sequence[Change]) -> list[int]:
    """Changes whose old value is not the one before; in period 0, and only there, it is null."""
    held: dict[tuple[str, str], str] = {}
    found = []
    for at, row in sorted(enumerate(changes), key=lambda each: each[1].period):
        key = (row.user_id, row.variable)
        if row.old != held.get(key) or (row.old is None) != (row.period == 0):
            found.append(at)
        held[key] = row.value
    return found


def out_of_step(changes: Sequence[Change]) -> list[int]:
    """Changes of a period that does not follow another one without a gap, on a later day, the same for all of it."""
    ends: dict[At, str] = {}
    for row in changes:
        ends.setdefault((row.user_id, row.period), row.period_end)

    def follows(row: Change) -> bool:
        before = ends.get((row.user_id, row.period - 1), "" if row.period == 0 else None)
        return before is not None and before < row.period_end == ends[row.user_id, row.period]

    return [at for at, row in enumerate(changes) if not follows(row)]


def not_from_the_start(changes: Sequence[Change], profiles: Sequence[Profile]) -> list[int]:
    """Changes of period 0 that ends on another day than the user's start date."""
    starts = {row.user_id: row.start_date for row in profiles}
    return [
        at for at, row in enumerate(changes) if row.period == 0 and starts.get(row.user_id) != row.period_end
    ]


def other_number_of_changes(sizes: Sizes, changes: Sequence[Change]) -> list[int]:
    """Changes of later periods that bring more or fewer than is set, by more than one."""
    variables = Counter(row.user_id for row in changes if row.period == 0)
    counts = Counter((row.user_id, row.period) for row in changes)

    def fits(row: Change) -> bool:
        wanted = min(sizes.changes_per_period, variables[row.user_id])
        return row.period == 0 or abs(counts[row.user_id, row.period] - wanted) <= 1

    return [at for at, row in enumerate(changes) if not fits(row)]


def changes_too_often(sizes: Sizes, changes: Sequence[Change]) -> list[int]:
    """Changes of a variable after it has changed as often as is set."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for at, row in sorted(enumerate(changes), key=lambda each: each[1].period):
        if row.period == 0:
            continue
        seen[row.user_id, row.variable] += 1
        if seen[row.user_id, row.variable] > sizes.max_changes_per_variable:
            found.append(at)
    return found


def other_number_of_periods(sizes: Sizes, changes: Sequence[Change]) -> list[int]:
    """Changes of the last period of users that have more or fewer periods than is set."""
    last: dict[str, int] = {}
    for row in changes:
        last[row.user_id] = max(last.get(row.user_id, 0), row.period)
    return [
        at
        for at, row in enumerate(changes)
        if row.period == last[row.user_id] and row.period != sizes.periods - 1
    ]


def states_at(changes: Sequence[Change]) -> dict[At, dict[str, str]]:
    """The whole state of every user after every period from the first to the last that changes something."""
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


def ends_of(changes: Sequence[Change]) -> dict[At, datetime]:
    """The last day of every period of every user, as far as it is a day."""
    ends = {}
    for row in changes:
        moment = moment_of(row.period_end)
        if moment is not None:
            ends[row.user_id, row.period] = moment
    return ends


def moment_of(text: str | None) -> datetime | None:
    """A simulated time; None where the text is none, or names a zone: simulated times have none."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is None else None
