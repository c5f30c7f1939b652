"""The tables: the row type of each, its key, and its columns with their types and descriptions."""

import typing
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any

from memflow.records.episodes import FeedbackRound, GoldLabel, Probe, Turn
from memflow.records.memories import Entry, PlayedRound, Policy, Reply, TranscriptMessage
from memflow.records.scores import (
    Calibration,
    Claim,
    Comparison,
    Drift,
    FailureAttribution,
    HealthMeasure,
    ProbeRanking,
    ProbeRetrieval,
    PublishedScore,
    Score,
    Verdict,
)
from memflow.records.states import Change, Entity, Profile, Record, Variable

TABLES: dict[str, type] = {
    "raw.records": Record,
    "state.profiles": Profile,
    "state.variables": Variable,
    "state.changes": Change,
    "state.entities": Entity,
    "utterance.turns": Turn,
    "question.keys": GoldLabel,
    "question.probes": Probe,
    "feedback.sessions": FeedbackRound,
    "memory.transcripts": TranscriptMessage,
    "memory.indexes": Entry,
    "memory.policies": Policy,
    "memory.feedback": PlayedRound,
    "answer.replies": Reply,
    "score.calibrations": Calibration,
    "score.verdicts": Verdict,
    "score.attributions": FailureAttribution,
    "score.claims": Claim,
    "score.health": HealthMeasure,
    "score.retrieval": ProbeRetrieval,
    "score.rankings": ProbeRanking,
    "score.comparisons": Comparison,
    "score.leaderboard": Score,
    "score.history": PublishedScore,
    "score.drift": Drift,
}

KEYS: dict[str, tuple[str, ...]] = {
    "raw.records": ("dataset", "record_id"),
    "state.profiles": ("domain", "user_id"),
    "state.variables": ("domain", "user_id", "variable"),
    "state.changes": ("domain", "user_id", "period", "variable"),
    "state.entities": ("domain", "user_id", "entity_id"),
    "utterance.turns": ("domain", "message_id"),
    "question.keys": ("domain", "question_id", "checkpoint", "made_by"),
    "question.probes": ("domain", "probe_id"),
    "feedback.sessions": ("domain", "case_id", "round"),
    "memory.transcripts": ("domain", "assistant", "episode_id", "message_id"),
    "memory.indexes": ("domain", "assistant", "episode_id", "entry_id"),
    "memory.policies": ("domain", "assistant", "episode_id", "step"),
    "memory.feedback": ("domain", "assistant", "checkpoint", "case_id", "round"),
    "answer.replies": ("domain", "assistant", "probe_id"),
    "score.calibrations": ("domain", "judge", "prompt", "language"),
    "score.verdicts": ("domain", "assistant", "probe_id", "metric", "variant"),
    "score.attributions": ("domain", "assistant", "probe_id"),
    "score.claims": ("domain", "assistant", "claim_id", "variant"),
    "score.health": ("domain", "assistant", "measure"),
    "score.retrieval": ("domain", "assistant", "probe_id", "ranking"),
    "score.rankings": ("domain", "assistant", "probe_id"),
    "score.comparisons": ("domain", "metric", "variant", "slice", "a", "b"),
    "score.leaderboard": ("domain", "assistant", "metric", "variant", "slice"),
    "score.history": ("publication", "domain", "assistant", "metric", "variant", "slice"),
    "score.drift": ("published_at", "domain", "assistant", "metric", "variant", "slice"),
}
"""The key columns of each table."""

APPEND_ONLY = frozenset({"score.history"})
"""Tables to which rows are only added, so that the lake keeps no earlier versions of them."""
ACCUMULATED = APPEND_ONLY | {"score.drift"}
"""Tables that each publication extends, and that nothing else can rebuild. The lake has their current rows twice."""

MEASURED = frozenset(
    {
        *("latency_s", "models_s", "own_s", "percentiles_s", "model_calls", "completion"),
        *("prompt_tokens", "completion_tokens", "forget_s", "forget_calls"),
    }
)
"""Columns that measure a run; they are excluded from content hashes."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name, Python type, nullability and description."""

    name: str
    type: Any
    nullable: bool
    description: str


@cache
def columns(table: str) -> tuple[Column, ...]:
    """Return the columns of `table` in order; types are str, int, float, bool, list[str] or list[float]."""
    row = TABLES[table]
    hints = typing.get_type_hints(row, include_extras=True)
    found = []
    for each in fields(row):
        plain, description = typing.get_args(hints[each.name])[:2]
        options = [option for option in typing.get_args(plain) if option is not type(None)]
        nullable = type(None) in typing.get_args(plain)
        found.append(Column(each.name, options[0] if nullable else plain, nullable, description))
    return tuple(found)


def required(table: str) -> list[str]:
    """Return the names of a table's columns that have no default value, so every row must set them."""
    return [f.name for f in fields(TABLES[table]) if f.default is MISSING and f.default_factory is MISSING]
