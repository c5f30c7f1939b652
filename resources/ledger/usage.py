"""Usage of the models: requests, cache hits, failures, tokens and seconds, from the ledger's totals.

The totals are sums by run, stage, role, domain, assistant, model and prompt. writer.py adds to them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from memflow.chat.budget import Prices
from memflow.resources.ledger.tables import (
    CONTEXT_COLUMNS,
    SUMS,
    failures,
    usage_totals,
)

GROUPS = (*CONTEXT_COLUMNS, "prompt")
"""The columns by which usage can be grouped."""


@dataclass(frozen=True)
class UsageRow:
    """The usage of one group of requests; `by` contains the values that define the group, by column.

    Tokens, seconds and `cut` (completions that the token limit ended) cover requests and cache hits, with the values of
    the first request. The `paid_` tokens cover requests only. `retries` are the requests and cache hits after a cut or
    unusable answer, and `retry_tokens` the tokens of their completions.
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
    reasoning_tokens: int = 0
    cut: int = 0
    paid_cached_tokens: int = 0
    retries: int = 0
    retry_tokens: int = 0


def cost(row: UsageRow, prices: Prices | None) -> float | None:
    """Return the cost of a row's requests at a model's prices; None if the prices of its requests are unknown."""
    if prices is None:
        return None if row.requests else 0.0
    return prices.cost(row.paid_prompt_tokens, row.paid_completion_tokens, row.paid_cached_tokens)


def known_sum(values: Iterable[float | None]) -> float | None:
    """Return the sum of values; None if one is unknown, such as the cost of a model without a price."""
    found = [*values]
    known = [value for value in found if value is not None]
    return sum(known) if len(known) == len(found) else None


def cost_text(cost: float | None, known: float) -> str:
    """Return a sum of costs as text: `at least` the `known` part of it, or `unknown`, if a part is unknown."""
    if cost is None:
        return f"at least {known:,.2f}" if known else "unknown"
    return "<0.01" if 0 < cost < 0.005 else f"{cost:,.2f}"


def used_by(by: Sequence[str], runs: Collection[str] | None) -> sa.Select[Any]:
    """Return a query of the totals of these runs, or of all runs, grouped by `by`."""
    names = [usage_totals.c[name] for name in by]
    query = sa.select(*names, *(_sum(usage_totals.c[name]) for name in SUMS)).group_by(*names)
    return query if runs is None else query.where(usage_totals.c.run.in_(sorted(runs)))


def unfinished_by(run: str, stage: str) -> sa.Select[Any]:
    """Return a query of the number of a step's failed requests that a later run has to send again."""
    query = sa.select(sa.func.count()).select_from(failures)
    return query.where(failures.c.run == run, failures.c.stage == stage, failures.c.repeats)


def _sum(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    """Return the sum of a column under its name. Sums of integers are cast, since PostgreSQL returns decimals."""
    total = sa.func.sum(column)
    return (total if isinstance(column.type, sa.Float) else sa.cast(total, sa.BigInteger)).label(column.name)
