"""Usage of the models, queried from the tables of the ledger: requests, cache hits, failures, tokens and seconds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from resources.ledger_tables import completions, failures, uses
from resources.limits import Prices

SUMS = [
    sa.func.sum(completions.c[name]).label(name)
    for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "latency_s")
]


@dataclass(frozen=True)
class UsageRow:
    """The usage of one group of requests, identified by `by`.

    Tokens and seconds cover requests and cache hits, with the values of the first request. The `paid_` tokens cover
    requests only.
    """

    by: Mapping[str, str]
    requests: int = 0
    cache_hits: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    latency_s: float = 0.0
    paid_prompt_tokens: int = 0
    paid_completion_tokens: int = 0


def cost(row: UsageRow, prices: Mapping[str, Prices]) -> float:
    """Return the cost of the requests at their model's prices; 0 without a price. The row must be grouped by model."""
    price = prices.get(row.by["model"], Prices())
    return price.cost(row.paid_prompt_tokens, row.paid_completion_tokens)


def used_by(by: Sequence[str], run: str | None) -> sa.Select[Any]:
    names = [uses.c[name] for name in by]
    columns = completions.c
    requested = sa.case((uses.c.kept, 0), else_=1)
    query = (
        sa.select(
            *names,
            sa.func.sum(requested).label("requests"),
            sa.func.sum(1 - requested).label("cache_hits"),
            *SUMS,
            sa.func.sum(columns.prompt_tokens * requested).label("paid_prompt_tokens"),
            sa.func.sum(columns.completion_tokens * requested).label("paid_completion_tokens"),
        )
        .join_from(uses, completions, uses.c.digest == columns.digest)
        .group_by(*names)
    )
    return query if run is None else query.where(uses.c.run == run)


def needed_by(by: Sequence[str], run: str) -> sa.Select[Any]:
    """Return a query that counts each answer of a run once, so that a replay has the same counts as the first run."""
    names = [uses.c[name] for name in by]
    once = sa.select(*names, uses.c.digest).where(uses.c.run == run).distinct().subquery()
    columns = completions.c
    return (
        sa.select(
            *(once.c[name] for name in by),
            sa.func.count().label("requests"),
            *SUMS,
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
