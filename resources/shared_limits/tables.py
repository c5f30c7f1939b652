"""The tables of the shared limits. They are beside the ledger's tables and are created on first use."""

from typing import Any

import sqlalchemy as sa

limit_tables = sa.MetaData()


def _amounts(prefix: str) -> list[sa.Column[Any]]:
    names = ("calls", "tokens", "cost")
    return [sa.Column(f"{prefix}_{name}", sa.Float, nullable=False, server_default="0") for name in names]


budget_spending = sa.Table(
    "budget_spending",
    limit_tables,
    sa.Column("budget", sa.String(200), primary_key=True),
    sa.Column("holder", sa.String(64), primary_key=True, comment="A process; empty: all that ended well."),
    *_amounts("spent"),
    *_amounts("leased"),
    sa.Column("expires_at", sa.Float, nullable=False, server_default="0"),
)
"""What each process spent of a budget, and what it leased: it may spend as much without a further transaction."""

concurrency_slots = sa.Table(
    "concurrency_slots",
    limit_tables,
    sa.Column("model", sa.String(64), primary_key=True),
    sa.Column("holder", sa.String(64), primary_key=True),
    sa.Column("slots", sa.Integer, nullable=False),
    sa.Column("wanted", sa.Integer, nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
)
"""The concurrent requests that each client of a model may send, and how many it wants to send."""

request_rates = sa.Table(
    "request_rates",
    limit_tables,
    sa.Column("model", sa.String(64), primary_key=True),
    sa.Column("requests_until", sa.Float, nullable=False),
    sa.Column("tokens_until", sa.Float, nullable=False),
)
"""Until when the rates of a model are used up, in seconds since 1970."""
