"""The checks of AMemGym's rows. The modules states.py, turns.py and probes.py find the offending rows; examiner.py
recomputes the gold from the messages.

A check is an error if the published file always satisfies it. A check is a warning if it depends on the domain's
parameters (config.py) or if the published file has exceptions.
"""

import json
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from memflow.benchmarks.amemgym.checks import examiner, probes, states, turns
from memflow.benchmarks.amemgym.config import AMemGymConfig, is_generated, parse_config
from memflow.checks.rules import (
    AcrossTables,
    EachRow,
    PerDomain,
    RowForEvery,
    Rule,
    WholeTable,
    add_descriptions,
    expect_all,
)
from memflow.records import Change

MAX_EXCESS_CHANGES = 0.1
"""Largest share of changes beyond `max_changes_per_variable`; the published file has 1 %."""
MAX_REPEATED = 0.01
"""Largest share of sessions that expose a value twice in a period; the published file has 0.1 %."""
MAX_EXPOSED = 3
"""Largest number of values that a published session exposes."""


def _with_config(rule: Callable[[AMemGymConfig], Rule]) -> PerDomain:
    return PerDomain(lambda domain: rule(parse_config(domain)))


def _changes_by_config(
    find_violations: Callable[[AMemGymConfig, Sequence[Change]], Collection[int]], tolerance: float = 0.0
) -> PerDomain:
    return _with_config(lambda config: WholeTable(partial(find_violations, config), tolerance))


def _probes_by_config(find_violations: Callable[..., Collection[int]]) -> PerDomain:
    return _with_config(lambda config: _probes_and_table(partial(find_violations, config)))


def _turns_and_changes(find_violations: Callable[..., Collection[int]]) -> AcrossTables:
    return AcrossTables(("utterance.turns", "state.changes"), find_violations)


def _probes_and_table(
    find_violations: Callable[..., Collection[int]], table: str = "state.changes"
) -> AcrossTables:
    return AcrossTables(("question.probes", table), find_violations)


def _if_generated(rule: Rule) -> PerDomain:
    return PerDomain(lambda domain: rule if is_generated(domain) else None)


def _golds_match(reader: examiner.Reader) -> AcrossTables:
    return AcrossTables(
        ("question.probes", "utterance.turns", "state.variables"), partial(examiner.examine_golds, reader)
    )


_ERRORS: dict[str, dict[str, Any]] = {
    "state.changes": {
        "every_variable_has_a_value": RowForEvery(("user_id", "variable"), "state.variables"),
        "old_value_equals_previous_value": WholeTable(states.changes_with_wrong_old_value),
        "periods_are_consecutive": WholeTable(states.changes_in_unordered_periods),
        "period_0_ends_on_start_date": AcrossTables(
            ("state.changes", "state.profiles"), states.initial_changes_off_start_date
        ),
    },
    "utterance.turns": {
        "every_state_change_exposed_in_its_period": AcrossTables(
            ("state.changes", "utterance.turns"), turns.unexposed_changes
        ),
        "exposed_values_changed_in_period": _turns_and_changes(turns.turns_with_unchanged_values),
        "exposed_values_match_state_at_period_end": _turns_and_changes(turns.turns_with_wrong_values),
        "sessions_in_time_order_within_period": _turns_and_changes(turns.turns_out_of_order),
        "generated_messages_state_only_exposed_values": _if_generated(
            AcrossTables(("utterance.turns", "state.variables"), examiner.examine_messages)
        ),
    },
    "question.probes": {
        "gold_is_only_option_matching_user_state": _probes_and_table(probes.probes_without_unique_gold),
        "option_values_in_state_schema": _probes_and_table(probes.probes_outside_schema, "state.variables"),
        "options_have_distinct_states": _probes_and_table(
            probes.probes_with_duplicate_variants, "state.variables"
        ),
        "gold_equals_answer_from_exposed_values": _golds_match(examiner.read_exposed),
        "gold_equals_answer_from_message_texts": _if_generated(_golds_match(examiner.read_text)),
    },
}
"""Rules that block downstream steps, by table and name."""

_WARNINGS: dict[str, dict[str, Any]] = {
    "state.variables": {
        "every_variable_used_by_a_question": EachRow(lambda row: bool(row.questions)),
        "choice_count_per_variable_as_configured": _with_config(
            lambda config: EachRow(lambda row: len(row.choices) == config.choices_per_variable)
        ),
    },
    "state.changes": {
        "changes_after_period_0_have_event": EachRow(lambda row: (row.event is None) == (row.period == 0)),
        "change_count_per_period_within_1_of_configured": _changes_by_config(states.changes_with_wrong_count),
        "changes_per_variable_at_most_configured": _changes_by_config(
            states.changes_above_limit, MAX_EXCESS_CHANGES
        ),
        "period_count_as_configured": _changes_by_config(states.changes_in_wrong_last_period),
        "period_end_dates_as_configured": _with_config(
            lambda config: EachRow(lambda row: row.period_end == config.period_end(row.period).isoformat())
        ),
    },
    "utterance.turns": {
        "session_exposes_1_to_3_state_values": EachRow(
            lambda turn: turn.exposes is None or 1 <= len(json.loads(turn.exposes)) <= MAX_EXPOSED
        ),
        "at_most_1_percent_of_sessions_repeat_exposed_variable": WholeTable(
            turns.turns_repeating_values, MAX_REPEATED
        ),
    },
    "question.probes": {
        "question_count_as_configured": _probes_by_config(probes.probes_with_wrong_question_count),
        "variables_per_question_as_configured": _probes_by_config(probes.probes_with_wrong_variable_count),
    },
}
"""Rules that only warn, by table and name."""

EXPECTED = add_descriptions((*expect_all(_ERRORS), *expect_all(_WARNINGS, "warn")), __name__)
"""AMemGym's own checks."""
