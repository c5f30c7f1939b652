"""Rows of AMemGym's users that are at fault: each function finds those that break one invariant, by position.

Which sentence each of them stands for, and how bad it is, is expectations.py. Only users with states are looked at, so
that other benchmarks' rows are passed over; so are quarantined rows where it is their content that matters.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from typing import Any

from memflow.benchmarks.amemgym.sizes import Sizes
from memflow.records import Change, Probe, Profile, Turn, Variable

At = tuple[str, int]
"""A user and a period."""
EVENING = time(19), time(22)
"""Between these times sessions begin, as published."""


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
    states = _states(changes)

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
    ends = _ends(changes)
    before: dict[str, datetime] = {}
    found = []
    for at, turn in sorted(enumerate(turns), key=lambda each: each[1].event):
        end = ends.get((turn.episode_id, turn.checkpoint))
        if end is None:
            continue
        moment = _moment(turn.sent_at)
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
    ends = _ends(changes)
    by_period: dict[At, list[int]] = defaultdict(list)
    for at, turn in sorted(enumerate(turns), key=lambda each: each[1].event):
        by_period[turn.episode_id, turn.checkpoint].append(at)
    found = []
    for key, here in by_period.items():
        for left, at in enumerate(reversed(here)):
            moment = _moment(turns[at].sent_at)
            if key in ends and (moment is None or moment.date() != ends[key].date() - timedelta(days=left)):
                found.append(at)
    return found


def not_in_the_evening(turns: Sequence[Turn], changes: Sequence[Change]) -> list[int]:
    """Sessions that begin at another time of the day than published ones."""
    ends = _ends(changes)
    found = []
    for at, turn in enumerate(turns):
        moment = _moment(turn.sent_at)
        evening = moment is not None and EVENING[0] <= moment.time() <= EVENING[1]
        if (turn.episode_id, turn.checkpoint) in ends and not evening:
            found.append(at)
    return found


def without_one_gold(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions of which not exactly one option is for the present state, or another one is the gold."""
    states = _states(changes)
    found = []
    for at, probe in _choices(probes, changes):
        state = states[probe.episode_id, probe.checkpoint]
        present = [state.get(name) for name in probe.variables]
        right = [str(n) for n, variant in enumerate(probe.variants, 1) if json.loads(variant) == present]
        if right != [probe.gold]:
            found.append(at)
    return found


def not_the_state(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Probes that reveal, or as state probes hold for right, other values than the present ones."""
    states = _states(changes)
    found = []
    for at, probe in enumerate(probes):
        state = states.get((probe.episode_id, probe.checkpoint))
        if state is None or not probe.variables or probe.reason is not None:
            continue
        present = {name: state.get(name) for name in probe.variables}
        held = [probe.revealed, *([probe.gold] if probe.kind == "state" else [])]
        if any(_loaded(text) != present for text in held):
            found.append(at)
    return found


def of_no_schema(probes: Sequence[Probe], variables: Sequence[Variable]) -> list[int]:
    """Questions with an option for values that their variables cannot have."""
    schema = {(row.user_id, row.variable): row.choices for row in variables}

    def fits(probe: Probe, variant: str) -> bool:
        values = json.loads(variant)
        return len(values) == len(probe.variables) and all(
            value in schema.get((probe.episode_id, name), [])
            for name, value in zip(probe.variables, values, strict=True)
        )

    return [
        at
        for at, probe in _choices(probes, variables)
        if not all(fits(probe, variant) for variant in probe.variants)
    ]


def options_of_one_state(probes: Sequence[Probe], variables: Sequence[Variable]) -> list[int]:
    """Questions with two options for the same state, or as many states as there are no options."""
    return [
        at
        for at, probe in _choices(probes, variables)
        if len(set(probe.variants)) != len(probe.variants) or len(probe.variants) != len(probe.options)
    ]


def changed_options(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions with other options, or in another order, than in the first period that they are asked in."""
    first: dict[tuple[str, str], Probe] = {}
    found = []
    for at, probe in sorted(_choices(probes, changes), key=lambda each: each[1].checkpoint):
        asked = first.setdefault((probe.episode_id, probe.question), probe)
        here, there = ((each.options, each.variants, each.variables) for each in (probe, asked))
        if here != there:
            found.append(at)
    return found


def not_asked_in_every_period(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions that are not asked exactly once after each period of their user."""
    periods: dict[str, set[int]] = defaultdict(set)
    for row in changes:
        periods[row.user_id].add(row.period)
    asked: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, probe in enumerate(probes):
        if probe.kind == "choice" and probe.variables and probe.episode_id in periods:
            asked[probe.episode_id, probe.question].append(at)
    return [
        at
        for (user, _), places in asked.items()
        if sorted(probes[at].checkpoint for at in places) != sorted(periods[user])
        for at in places
    ]


def undiagnosed(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions that depend on a variable for which no state probe asks at the same checkpoint."""
    asked = {
        (probe.episode_id, probe.checkpoint, name)
        for probe in probes
        if probe.kind == "state"
        for name in probe.variables
    }
    return [
        at
        for at, probe in _choices(probes, changes)
        if any((probe.episode_id, probe.checkpoint, name) not in asked for name in probe.variables)
    ]


def unlived_before_lived(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions with an option that some period makes right, after one that none does."""
    lived = _lived(probes, changes)
    return [
        at
        for at, probe in _choices(probes, changes)
        if lived[probe.episode_id, probe.question]
        != set(range(1, 1 + len(lived[probe.episode_id, probe.question])))
    ]


def other_number_of_options(sizes: Sizes, probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions that have not an option for each state that is lived through, filled up to the least number."""
    lived = _lived(probes, changes)
    return [
        at
        for at, probe in _choices(probes, changes)
        if len(probe.options) != max(sizes.min_variants, len(lived[probe.episode_id, probe.question]))
    ]


def other_number_of_variables(sizes: Sizes, probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions that depend on more or fewer variables than is set."""
    return [
        at for at, probe in _choices(probes, changes) if len(probe.variables) != sizes.variables_per_question
    ]


def other_number_of_questions(sizes: Sizes, probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions of users that have more or fewer of them than is set."""
    users = {row.user_id for row in changes}
    asked: dict[str, set[str]] = defaultdict(set)
    for probe in probes:
        if probe.kind == "choice" and probe.variables and probe.episode_id in users:
            asked[probe.episode_id].add(probe.question)
    wrong = {user for user, questions in asked.items() if len(questions) != sizes.questions}
    return [at for at, probe in enumerate(probes) if probe.kind == "choice" and probe.episode_id in wrong]


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


def _told(turn: Turn) -> dict[str, str]:
    found = _loaded(turn.exposes or "{}")
    return found if isinstance(found, dict) else {}


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text or "")
    except ValueError:
        return None


def _ends(changes: Sequence[Change]) -> dict[At, datetime]:
    ends = {}
    for row in changes:
        moment = _moment(row.period_end)
        if moment is not None:
            ends[row.user_id, row.period] = moment
    return ends


def _states(changes: Sequence[Change]) -> dict[At, dict[str, str]]:
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


def _choices(
    probes: Sequence[Probe], states: Sequence[Change] | Sequence[Variable]
) -> Iterator[tuple[int, Probe]]:
    """The multiple choices, and where they stand, that are asked of users with states and are not quarantined."""
    users = {row.user_id for row in states}
    for at, probe in enumerate(probes):
        if probe.kind == "choice" and probe.variables and probe.episode_id in users and probe.reason is None:
            yield at, probe


def _lived(probes: Sequence[Probe], changes: Sequence[Change]) -> dict[tuple[str, str], set[int]]:
    """For each user's question the numbers of the options that some period makes right."""
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for _, probe in _choices(probes, changes):
        if probe.gold.isascii() and probe.gold.isdigit():
            found[probe.episode_id, probe.question].add(int(probe.gold))
    return found
