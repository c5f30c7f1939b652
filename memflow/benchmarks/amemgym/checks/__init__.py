"""What must hold of AMemGym's users, published or generated, as data. How rows at fault are found is
invariants/.

What the published file keeps throughout is an error and blocks. What it keeps because of how it was set up is a
warning, measured against the domain's own parameters (sizes.py), whose defaults are the file's.
"""

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

from memflow.benchmarks.amemgym.checks import probes, states, turns
from memflow.benchmarks.amemgym.config import Sizes, sizes_of
from memflow.checks.rules import (
    AcrossTables,
    EachRow,
    Expectation,
    PerDomain,
    RowForEvery,
    Rule,
    WholeTable,
    of_benchmark,
)
from memflow.records import Change, Turn, Variable

OFTEN = 0.1
"""Share of changes that may be one too many; the published file has 1 %."""
AGAIN = 0.01
"""Share of sessions that may tell what an earlier one of their period told; the published file has 0.1 %."""
TOLD = 3
"""How many values a session tells at most, as published."""


def _sized(rule: Callable[[Sizes], Rule]) -> PerDomain:
    """A rule that depends on AMemGym's parameters."""
    return PerDomain(lambda domain: rule(sizes_of(domain)))


def _with(sizes: Sizes, find_violations: Callable[..., Collection[int]]) -> Callable[..., Collection[int]]:
    return lambda *rows: find_violations(sizes, *rows)


def _changes(
    find_violations: Callable[[Sizes, Sequence[Change]], Collection[int]], but: float = 0.0
) -> PerDomain:
    return _sized(lambda sizes: WholeTable(_with(sizes, find_violations), but))


def _questions(find_violations: Callable[..., Collection[int]]) -> PerDomain:
    return _sized(
        lambda sizes: AcrossTables(("question.probes", "state.changes"), _with(sizes, find_violations))
    )


def _few_values(turn: Turn) -> bool:
    return turn.exposes is None or 1 <= len(json.loads(turn.exposes)) <= TOLD


def _has_choices(sizes: Sizes) -> EachRow:
    def has(row: Variable) -> bool:
        return len(row.choices) == sizes.choices_per_variable

    return EachRow(has)


def _ends_when_set(sizes: Sizes) -> EachRow:
    def ends(row: Change) -> bool:
        return row.period_end == sizes.period_end(row.period).isoformat()

    return EachRow(ends)


def _told(find_violations: Callable[..., Collection[int]]) -> AcrossTables:
    return AcrossTables(("utterance.turns", "state.changes"), find_violations)


def _asked(find_violations: Callable[..., Collection[int]], beside: str = "state.changes") -> AcrossTables:
    return AcrossTables(("question.probes", beside), find_violations)


_MUST: dict[str, dict[str, Any]] = {
    "state.changes": {
        "every_variable_takes_a_value": RowForEvery(("user_id", "variable"), "state.variables"),
        "changes_start_from_the_value_before": WholeTable(states.out_of_line),
        "periods_follow_each_other": WholeTable(states.out_of_step),
        "period_0_ends_on_the_start_date": AcrossTables(
            ("state.changes", "state.profiles"), states.not_from_the_start
        ),
    },
    "utterance.turns": {
        "what_changes_is_told_in_its_period": AcrossTables(
            ("state.changes", "utterance.turns"), turns.untold
        ),
        "what_is_told_changes_in_its_period": _told(turns.unchanged),
        "what_is_told_is_the_state_of_its_period": _told(turns.untrue),
        "sessions_follow_each_other_within_their_period": _told(turns.out_of_time),
    },
    "question.probes": {
        "one_option_is_for_the_present_state": _asked(probes.without_one_gold),
        "what_is_revealed_is_the_present_state": _asked(probes.not_the_state),
        "options_are_for_values_of_the_schema": _asked(probes.of_no_schema, "state.variables"),
        "no_two_options_are_for_the_same_state": _asked(probes.options_of_one_state, "state.variables"),
        "options_stay_the_same_in_every_period": _asked(probes.changed_options),
        "questions_are_asked_once_in_every_period": _asked(probes.not_asked_in_every_period),
        "what_questions_depend_on_has_a_state_probe": _asked(probes.undiagnosed),
    },
}
"""Table to sentence to rule, for what blocks."""

_SHOULD: dict[str, dict[str, Any]] = {
    "state.variables": {
        "variables_are_needed_by_a_question": EachRow(lambda row: bool(row.questions)),
        "variables_have_as_many_choices_as_set": _sized(_has_choices),
    },
    "state.changes": {
        "later_changes_have_a_life_event": EachRow(lambda row: (row.event is None) == (row.period == 0)),
        "changes_are_as_many_as_set_but_for_one": _changes(states.other_number_of_changes),
        "few_variables_change_more_often_than_set": _changes(states.changes_too_often, OFTEN),
        "periods_are_as_many_as_set": _changes(states.other_number_of_periods),
        "periods_end_when_set": _sized(_ends_when_set),
    },
    "utterance.turns": {
        "sessions_tell_one_to_three_values": EachRow(_few_values),
        "few_values_are_told_again": WholeTable(turns.told_again, AGAIN),
        "sessions_are_on_the_last_days_of_their_period": _told(turns.not_on_the_last_days),
        "sessions_are_in_the_evening": _told(turns.not_in_the_evening),
    },
    "question.probes": {
        "options_never_lived_through_stand_last": _asked(probes.unlived_before_lived),
        "options_are_as_many_as_needed": _questions(probes.other_number_of_options),
        "questions_are_as_many_as_set": _questions(probes.other_number_of_questions),
        "questions_depend_on_as_many_variables_as_set": _questions(probes.other_number_of_variables),
    },
}
"""Table to sentence to rule, for what warns."""

EXPECTED = of_benchmark(
    "amemgym",
    (
        *(Expectation(table, name, rule) for table, rules in _MUST.items() for name, rule in rules.items()),
        *(
            Expectation(table, name, rule, "warn")
            for table, rules in _SHOULD.items()
            for name, rule in rules.items()
        ),
    ),
)
"""AMemGym's own expectations."""
