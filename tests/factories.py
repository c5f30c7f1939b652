"""Rows for tests: every required column gets a plain default, so that a test states only the values it is about.

`row(Probe, gold="2")` builds any row type of memflow.records; the named functions build the usual ones. A set of rows
in which every rule holds is valid_rows.py.
"""

import typing
from dataclasses import MISSING, fields
from functools import cache, partial
from typing import Any, TypeVar

from memflow.records import (
    Change,
    Claim,
    Comparison,
    Entity,
    Entry,
    FailureAttribution,
    FeedbackRound,
    GoldLabel,
    HealthMeasure,
    PlayedRound,
    Policy,
    Probe,
    Profile,
    PublishedScore,
    Record,
    Reply,
    Score,
    TranscriptMessage,
    Turn,
    Variable,
    Verdict,
)
from memflow.scoring.estimate import MetricContext

T = TypeVar("T")

DEFAULTS: dict[str, Any] = {
    "domain": "d",
    "assistant": "full",
    "memory": "full",
    "model": "m",
    "episode_id": "u1",
    "user_id": "u1",
    "probe_id": "p1",
    "question_id": "q1",
    "message_id": "m1",
    "entry_id": "e1",
    "case_id": "p1",
    "dataset": "set",
    "kind": "choice",
    "role": "user",
    "metric": "accuracy",
    "gold": "1",
    "coverage": 1.0,
    "n": 1,
    "n_episodes": 1,
}
"""Values of required columns by name; other required columns get the zero of their type."""


@cache
def _required(row_type: type[Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(row_type)
    found = {}
    for each in fields(row_type):
        if each.default is MISSING and each.default_factory is MISSING:
            hint = hints[each.name]
            origin = typing.get_origin(hint) or hint
            zero = {str: each.name, int: 0, float: 0.0, bool: False, list: []}.get(origin)
            found[each.name] = DEFAULTS.get(each.name, zero)
    return found


def row(row_type: type[T], **values: Any) -> T:
    """Return a row of `row_type` with these values, and defaults for the other required columns."""
    defaults = {
        name: list(value) if isinstance(value, list) else value for name, value in _required(row_type).items()
    }
    return row_type(**{**defaults, **values})


attribution = partial(row, FailureAttribution)
change = partial(row, Change)
claim = partial(row, Claim)
comparison = partial(row, Comparison)
entity = partial(row, Entity)
entry = partial(row, Entry)
feedback_round = partial(row, FeedbackRound)
health_measure = partial(row, HealthMeasure)
gold_label = partial(row, GoldLabel)
played_round = partial(row, PlayedRound)
policy = partial(row, Policy)
probe = partial(row, Probe)
profile = partial(row, Profile)
record = partial(row, Record)
reply = partial(row, Reply)
metric_context = partial(row, MetricContext)
score = partial(row, Score)
published_score = partial(row, PublishedScore)
transcript_message = partial(row, TranscriptMessage)
turn = partial(row, Turn)
variable = partial(row, Variable)
verdict = partial(row, Verdict)
