"""The accounts: what was asked, replayed and given up, and what it took, drawn up from the ledger's
tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from resources.ledger_tables import completions, failures, uses
from resources.limits import Prices


@dataclass(frozen=True)
class AccountRow:
    """One line of the accounts: `by` says of what. Tokens and seconds are those of all uses, as when first
    asked; the paid ones are those that this account's own calls took."""

    by: Mapping[str, str]
    asked: int = 0
    kept: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    latency_s: float = 0.0
    paid_prompt_tokens: int = 0
    paid_completion_tokens: int = 0


def cost(row: AccountRow, prices: Mapping[str, Prices]) -> float:
    """What an account's calls cost, by the prices of its model; 0 for a model without a price. The row has to
    be by model."""
    price = prices.get(row.by["model"], Prices())
    return price.cost(row.paid_prompt_tokens, row.paid_completion_tokens)


def used_by(by: Sequence[str], run: str | None) -> sa.Select[Any]:
    names = [uses.c[name] for name in by]
    columns = completions.c
    asked = sa.case((uses.c.kept, 0), else_=1)
    query = (
        sa.select(
            *names,
            sa.func.sum(asked).label("asked"),
            sa.func.sum(1 - asked).label("kept"),
            sa.func.sum(columns.prompt_tokens).label("prompt_tokens"),
            sa.func.sum(columns.completion_tokens).label("completion_tokens"),
            sa.func.sum(columns.cached_tokens).label("cached_tokens"),
            sa.func.sum(columns.latency_s).label("latency_s"),
            sa.func.sum(columns.prompt_tokens * asked).label("paid_prompt_tokens"),
            sa.func.sum(columns.completion_tokens * asked).label("paid_completion_tokens"),
        )
        .join_from(uses, completions, uses.c.digest == columns.digest)
        .group_by(*names)
    )
    return query if run is None else query.where(uses.c.run == run)


def needed_by(by: Sequence[str], run: str) -> sa.Select[Any]:
    """What a run needed answers for, each answer once: the same whether they were asked or replayed."""
    names = [uses.c[name] for name in by]
    once = sa.select(*names, uses.c.digest).where(uses.c.run == run).distinct().subquery()
    columns = completions.c
    return (
        sa.select(
            *(once.c[name] for name in by),
            sa.func.count().label("asked"),
            *(
                sa.func.sum(columns[name]).label(name)
                for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "latency_s")
            ),
            sa.func.sum(columns.prompt_tokens).label("paid_prompt_tokens"),
            sa.func.sum(columns.completion_tokens).label("paid_completion_tokens"),
        )
        .join_from(once, completions, once.c.digest == columns.digest)
        .group_by(*(once.c[name] for name in by))
    )


def failed_by(by: Sequence[str], run: str | None) -> sa.Select[Any]:
    names = [failures.c[name] for name in by]
    query = sa.select(*names, sa.func.count().label("failed")).select_from(failures).group_by(*names)
    return query if run is None else query.where(failures.c.run == run)
