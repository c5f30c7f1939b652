"""The row types of every table: the only source of the Parquet schemas, the SQL and the column descriptions.

The table `stage.name` has the asset key `stage/name`. A nullable column that is added reads as null in older files.

`reason` is null for a valid row; otherwise it states the error. A row with a reason is quarantined: it counts in
coverage only.

Times are logical: `sequence` counts the messages that an episode's memory was given, from 0.
"""

from memflow.records.episodes import (
    SEARCH,
    STORED,
    UNASKED,
    WRITTEN,
    FeedbackRound,
    GoldLabel,
    Probe,
    Turn,
)
from memflow.records.memories import (
    NOT_MEASURABLE,
    QUARANTINED_PROBE,
    Entry,
    PlayedRound,
    Policy,
    Reply,
    TranscriptMessage,
    is_failed_reply,
)
from memflow.records.scores import (
    BY_EVIDENCE,
    RECALL_AT_10,
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
from memflow.records.tables import ACCUMULATED, APPEND_ONLY, KEYS, MEASURED, TABLES, Column, columns, required

__all__ = [
    "ACCUMULATED",
    "APPEND_ONLY",
    "BY_EVIDENCE",
    "KEYS",
    "MEASURED",
    "NOT_MEASURABLE",
    "QUARANTINED_PROBE",
    "RECALL_AT_10",
    "SEARCH",
    "STORED",
    "TABLES",
    "UNASKED",
    "WRITTEN",
    "Calibration",
    "Change",
    "Claim",
    "Column",
    "Comparison",
    "Drift",
    "Entity",
    "Entry",
    "FailureAttribution",
    "FeedbackRound",
    "GoldLabel",
    "HealthMeasure",
    "PlayedRound",
    "Policy",
    "Probe",
    "ProbeRanking",
    "ProbeRetrieval",
    "Profile",
    "PublishedScore",
    "Record",
    "Reply",
    "Score",
    "TranscriptMessage",
    "Turn",
    "Variable",
    "Verdict",
    "columns",
    "is_failed_reply",
    "required",
]
