"""The definition of the ledger's tables. database.py creates them.

A column with a server default is newer than the first version; migration.py adds the column to older ledgers.
"""

from dataclasses import fields
from typing import Any

import sqlalchemy as sa

from memflow.chat.requests import Completion

tables = sa.MetaData()

MAX_ROWS = 500
"""Maximum number of rows of a statement; SQLite bounds its parameters."""

completions = sa.Table(
    "completions",
    tables,
    sa.Column("digest", sa.String(32), primary_key=True),
    sa.Column("prompt", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column(
        "messages",
        sa.LargeBinary,
        nullable=False,
        comment="JSON of [role, content] pairs: an LZ4 frame; zlib in former versions.",
    ),
    sa.Column("parameters", sa.Text, nullable=False, comment="The sampling, as JSON."),
    sa.Column("schema", sa.String(32), comment="Digest of the output type's JSON schema."),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("finish_reason", sa.Text, nullable=False),
    sa.Column("prompt_tokens", sa.Integer, nullable=False),
    sa.Column("completion_tokens", sa.Integer, nullable=False),
    sa.Column("cached_tokens", sa.Integer, nullable=False),
    sa.Column("latency_s", sa.Float, nullable=False),
    sa.Column(
        "end",
        sa.Text,
        nullable=False,
        server_default="answered",
        comment="answered or cut: see memflow.chat.requests.End.",
    ),
    sa.Column(
        "reasoning_tokens",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="Part of completion_tokens.",
    ),
    sa.Column(
        "estimated",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="The token counts are estimates.",
    ),
    sa.Column("asked_at", sa.Float, nullable=False, comment="Seconds since 1970, UTC."),
    sa.Column("checksum", sa.BigInteger, comment="Of the completion: see row_checksums.py."),
    sa.Column("request_checksum", sa.BigInteger, comment="Of the other columns, with the messages."),
)

COMPLETION_COLUMNS = tuple(each.name for each in fields(Completion))
"""The columns of a Completion, in the order of its fields."""
REQUEST_COLUMNS = ("prompt", "model", "parameters", "schema", "attempt", "asked_at")
"""The columns of a request without digest and messages."""
ANSWER_ROW = ("digest", *COMPLETION_COLUMNS, "checksum")
"""The columns that the checksum of a completion needs."""
REQUEST_ROW = ("digest", *REQUEST_COLUMNS, "messages", "request_checksum")
"""The columns that the checksum of a request needs."""

CONTEXT_COLUMNS = ("run", "stage", "role", "domain", "assistant", "model")


def _context_columns(**options: Any) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text, nullable=False, **options) for name in (*CONTEXT_COLUMNS, "prompt")]


uses = sa.Table(
    "uses",
    tables,
    sa.Column("use", sa.Integer, primary_key=True),
    *_context_columns(),
    sa.Column("digest", sa.String(32), nullable=False),
    sa.Column("kept", sa.Boolean, nullable=False, comment="A cache hit: no request was sent."),
    sa.Column("at", sa.Float, nullable=False),
    sa.Index("uses_by_run", "run"),
)

failures = sa.Table(
    "failures",
    tables,
    sa.Column("failure", sa.Integer, primary_key=True),
    *_context_columns(),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column(
        "end",
        sa.Text,
        nullable=False,
        server_default="failed",
        comment="How the request ended: `end` of the exception in memflow.errors.",
    ),
    sa.Column(
        "repeats",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="The partition is not up to date until the request has been sent again.",
    ),
    sa.Column("at", sa.Float, nullable=False),
    sa.Index("failures_by_run", "run"),
)

TOKEN_SUMS = (
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "paid_prompt_tokens",
    "paid_cached_tokens",
    "paid_completion_tokens",
)

SUMS = ("requests", "cache_hits", "failed", "cut", *TOKEN_SUMS, "latency_s")


def _sum_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column(
            name, sa.Float if name == "latency_s" else sa.BigInteger, nullable=False, server_default="0"
        )
        for name in SUMS
    ]


usage_totals = sa.Table("usage_totals", tables, *_context_columns(primary_key=True), *_sum_columns())
"""The sums of `uses`, `failures` and `forgotten_usage`, updated in the transactions that add rows to them."""

forgotten_usage = sa.Table("forgotten_usage", tables, *_context_columns(primary_key=True), *_sum_columns())
"""The sums of the uses of forgotten completions, whose rows are deleted; what they cost is still counted."""

ADDRESS_SUMS = ("requests", "failed", "moved", "prompt_tokens", "cached_tokens")

address_usage = sa.Table(
    "address_usage",
    tables,
    *(sa.Column(name, sa.Text, primary_key=True) for name in ("run", "model", "address")),
    *(sa.Column(name, sa.BigInteger, nullable=False, server_default="0") for name in ADDRESS_SUMS),
)
"""What each server of a model with several servers did in a run; empty for models with one address.

`requests` were answered by the address. `failed` attempts got no answer from it, and after `moved` of these the request
went to another address.
"""

embeddings = sa.Table(
    "embeddings",
    tables,
    sa.Column("digest", sa.String(32), primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False, comment="float32, little endian."),
    sa.Column("checksum", sa.BigInteger),
)

embedding_times = sa.Table(
    "embedding_times",
    tables,
    sa.Column("digest", sa.String(32), primary_key=True),
    sa.Column("seconds", sa.Float, nullable=False, comment="Its share of its request's latency."),
    sa.Column("checksum", sa.BigInteger),
)
"""A separate table, because ledgers of older versions have vectors without times."""

unchecked_rows = sa.Table(
    "unchecked_rows",
    tables,
    sa.Column("table", sa.Text, primary_key=True),
    sa.Column("after", sa.Text, nullable=False, comment="Rows up to this digest have checksums."),
)
"""The tables of a ledger that a former version wrote, some rows of which have no checksum yet."""

damaged_rows = sa.Table(
    "damaged_rows",
    tables,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("table", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column(
        "row", sa.Text, nullable=False, comment="The stored values as JSON, bytes as hexadecimal digits."
    ),
    sa.Column("at", sa.Float, nullable=False),
)
"""Rows that `memflow ledger verify --repair` moved aside, because they differ from their checksums."""
