"""The definition of the ledger's tables. database.py creates them."""

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
        comment="JSON of [role, content] pairs in an LZ4 frame.",
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
        "end", sa.Text, nullable=False, comment="answered, cut or loop: see memflow.chat.requests.End."
    ),
    sa.Column("reasoning_tokens", sa.Integer, nullable=False, comment="Part of completion_tokens."),
    sa.Column("estimated", sa.Boolean, nullable=False, comment="The token counts are estimates."),
    sa.Column("asked_at", sa.Float, nullable=False, comment="Seconds since 1970, UTC."),
)

COMPLETION_COLUMNS = tuple(each.name for each in fields(Completion))
"""The columns of a Completion, in the order of its fields."""
REQUEST_COLUMNS = ("prompt", "model", "parameters", "schema", "attempt", "asked_at")
"""The columns of a request without digest and messages."""

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
    sa.Column("end", sa.Text, nullable=False, comment="`end` of the exception in memflow.errors."),
    sa.Column(
        "repeats",
        sa.Boolean,
        nullable=False,
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
    "retry_tokens",
)

SUMS = ("requests", "cache_hits", "failed", "cut", "retries", *TOKEN_SUMS, "latency_s")


usage_totals = sa.Table(
    "usage_totals",
    tables,
    *_context_columns(primary_key=True),
    *(sa.Column(name, sa.Float if name == "latency_s" else sa.BigInteger, nullable=False) for name in SUMS),
)
"""The sums of what `uses` and `failures` record, updated in the transactions that add rows to them.

What forgotten completions cost stays in the totals.
"""

embeddings = sa.Table(
    "embeddings",
    tables,
    sa.Column("digest", sa.String(32), primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False, comment="float32, little endian."),
    sa.Column("seconds", sa.Float, nullable=False, comment="Its share of its request's latency."),
)
