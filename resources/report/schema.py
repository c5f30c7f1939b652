"""The columns of the report's data files, declared as columns of the tables in memflow/records.

A file's column has the name of the record's column unless `renamed` gives another.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from memflow.records import columns
from memflow.resources.lake.columns import from_array
from memflow.resources.report.redaction import Redaction

IDENTIFIERS = {"probe_id": "probe", "episode_id": "episode"}
REASONS = frozenset({"reason", "forget_failure"})


@dataclass(frozen=True)
class FileColumns:
    """The columns that a data file has of a table, and those whose texts `--without-texts` leaves out."""

    table: str
    names: tuple[str, ...]
    texts: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=lambda: IDENTIFIERS)
    """The titles that differ from the names of the columns, by name."""

    def __post_init__(self) -> None:
        unknown = {*self.names, *self.texts} - {column.name for column in columns(self.table)}
        if unknown:
            raise ValueError(
                f"{self.table} has no columns {', '.join(sorted(unknown))}. Fix the declaration."
            )

    @property
    def titles(self) -> list[str]:
        """The names of the columns in the data file."""
        return [self.renamed.get(name, name) for name in self.names]

    def values(
        self, rows: pa.Table | pa.RecordBatch, redaction: Redaction, *, texts: bool
    ) -> list[tuple[Any, ...]]:
        """Return the values of Arrow rows in the order of `names`. Without `texts`, columns of texts are None."""
        found: list[Sequence[Any]] = []
        for name in self.names:
            if not texts and name in self.texts:
                found.append([None] * rows.num_rows)
                continue
            values = column_values(rows, name)
            found.append(list(map(redaction.reason, values)) if name in REASONS else values)
        return list(zip(*found, strict=True))

    def rows(
        self, rows: pa.Table | pa.RecordBatch, redaction: Redaction, *, texts: bool
    ) -> list[dict[str, Any]]:
        """Return Arrow rows as dictionaries by title, as `values` does."""
        titles = self.titles
        return [dict(zip(titles, each, strict=True)) for each in self.values(rows, redaction, texts=texts)]


def column_values(rows: pa.Table | pa.RecordBatch, name: str) -> list[Any]:
    """Return the values of a column of Arrow rows."""
    column = rows.column(name)
    chunks: Iterable[pa.Array] = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [value for chunk in chunks for value in from_array(chunk)]


PROFILES = FileColumns("state.profiles", ("user_id", "name", "profile"), frozenset({"name", "profile"}))
VARIABLES = FileColumns(
    "state.variables", ("variable", "choices", "questions"), frozenset({"choices", "questions"})
)
CHANGES = FileColumns(
    "state.changes",
    ("period", "period_end", "variable", "old", "value", "event", "summary"),
    frozenset({"old", "value", "event", "summary"}),
    {"period": "checkpoint", "period_end": "date"},
)
ENTITIES = FileColumns(
    "state.entities",
    ("entity_id", "kind", "name", "relationship", "attributes"),
    frozenset({"name", "relationship", "attributes"}),
)
TURNS = FileColumns(
    "utterance.turns",
    (
        *("message_id", "checkpoint", "event", "position", "kind", "role", "speaker"),
        *("text", "sent_at", "exposes", "reason"),
    ),
    frozenset({"speaker", "text", "exposes"}),
)
PROBES = FileColumns(
    "question.probes",
    (
        *("probe_id", "episode_id", "checkpoint", "kind", "dataset", "category", "language", "question"),
        *("options", "gold", "evidence", "variables", "asked_at", "after", "metric", "parent"),
        *("question_id", "reason"),
    ),
    frozenset({"question", "options", "gold"}),
)
MESSAGES = FileColumns(
    "memory.transcripts",
    (
        *("message_id", "checkpoint", "sequence", "role", "speaker", "text", "sent_at", "origin"),
        *("cut", "reason", "ended_entries", "forget_failure"),
    ),
    frozenset({"speaker", "text"}),
)
ENTRIES = FileColumns(
    "memory.indexes",
    ("entry_id", "kind", "text", "sources", "since", "until", "previous", "role"),
    frozenset({"text"}),
)
REPLIES = FileColumns(
    "answer.replies",
    (
        *("probe_id", "text", "parsed", "recalled", "recalled_sources", "ranked", "prompt_tokens"),
        *("completion_tokens", "latency_s", "cut", "attempts", "injected_tokens", "dropped_tokens"),
        *("dropped_messages", "recall_failures", "completion", "reason"),
    ),
    frozenset({"text", "parsed", "recall_failures"}),
)
VERDICTS = FileColumns("score.verdicts", ("probe_id", "metric", "variant", "value", "completion", "reason"))
CLAIMS = FileColumns(
    "score.claims",
    ("claim_id", "checkpoint", "variant", "text", "value", "held_tokens", "reason"),
    frozenset({"text"}),
)
