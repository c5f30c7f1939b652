"""The checks of AMemGym's rows. The modules states.py, turns.py and probes.py find the offending rows; examiner.py
recomputes the gold from the messages.

A check is an error if the published file always satisfies it, and a warning if the published file has exceptions.
"""

import json
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from memflow.benchmarks.amemgym.checks import examiner, probes, states, turns
from memflow.benchmarks.amemgym.config import is_generated
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

MAX_EXPOSED = 3
"""Largest number of values that a published session exposes."""


def _turns_and_changes(find_violations: Callable[..., Collection[int]]) -> AcrossTables:
    return AcrossTables(("utterance.turns", "state.changes"), find_violations)


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
        "exposed_values_changed_in_period": _turns_and_changes(turns.turns_with_other_values),
        "sessions_in_time_order_within_period": _turns_and_changes(turns.turns_out_of_order),
        "generated_messages_state_only_exposed_values": _if_generated(
            AcrossTables(("utterance.turns", "state.variables"), examiner.examine_messages)
        ),
    },
    "question.probes": {
        "gold_is_only_option_matching_user_state": AcrossTables(
            ("question.probes", "state.changes"), probes.probes_without_unique_gold
        ),
        "options_have_distinct_states": EachRow(probes.has_distinct_variants),
        "gold_equals_answer_from_exposed_values": _golds_match(examiner.read_exposed),
        "gold_equals_answer_from_message_texts": _if_generated(_golds_match(examiner.read_text)),
    },
}
"""Rules that block downstream steps, by table and name."""

_WARNINGS: dict[str, dict[str, Any]] = {
    "state.variables": {"every_variable_used_by_a_question": EachRow(lambda row: bool(row.questions))},
    "state.changes": {
        "changes_after_period_0_have_event": EachRow(lambda row: (row.event is None) == (row.period == 0))
    },
    "utterance.turns": {
        "session_exposes_1_to_3_state_values": EachRow(
            lambda turn: turn.exposes is None or 1 <= len(json.loads(turn.exposes)) <= MAX_EXPOSED
        )
    },
}
"""Rules that only warn, by table and name."""

EXPECTED = add_descriptions((*expect_all(_ERRORS), *expect_all(_WARNINGS, "warn")), __name__)
"""AMemGym's own checks."""
