"""Statistics of a ledger, and deletion of its completions: `memflow ledger stats` and `forget`.

Functions take a connection of `SqlLedger.connect`. sql_ledger.py stores and finds completions, usage.py sums their use,
damage.py finds damaged rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memflow.chat.budget import Prices
from memflow.resources.ledger.tables import completions, embeddings, tables, uses
from memflow.resources.ledger.usage import known_sum


@dataclass(frozen=True)
class CompletionFilter:
    """Conditions that all selected completions meet; an empty string is no condition.

    `run` selects the completions whose requests this run sent; `digest` is the beginning of a digest. `retried` selects
    answers to requests that followed an unusable answer: without them, the next run asks again from there.
    """

    model: str = ""
    prompt: str = ""
    run: str = ""
    end: str = ""
    digest: str = ""
    retried: bool = False

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        """Return the conditions as SQL expressions over the table `completions`."""
        equal = [
            completions.c[name] == value
            for name in ("model", "prompt", "end")
            if (value := getattr(self, name))
        ]
        if self.retried:
            equal.append(completions.c.attempt > 0)
        if self.digest:
            equal.append(completions.c.digest.startswith(self.digest, autoescape=True))
        if self.run:
            sent = sa.select(uses.c.digest).where(uses.c.run == self.run, ~uses.c.kept)
            equal.append(completions.c.digest.in_(sent))
        return equal


def groups(connection: Connection) -> list[dict[str, Any]]:
    """Return one row per `model`, `prompt` and `end`: the number `answers`, and the sums of tokens and `bytes`."""
    columns = completions.c
    by = (columns.model, columns.prompt, columns.end)
    sums = {
        "prompt_tokens": columns.prompt_tokens,
        "completion_tokens": columns.completion_tokens,
        "reasoning_tokens": columns.reasoning_tokens,
        "bytes": sa.func.length(columns.messages) + sa.func.length(columns.text),
    }
    query = sa.select(
        *by,
        sa.func.count().label("answers"),
        *(sa.cast(sa.func.sum(column), sa.BigInteger).label(f"sum_{name}") for name, column in sums.items()),
    )
    rows = connection.execute(query.group_by(*by).order_by(*by))
    return [dict(zip(("model", "prompt", "end", "answers", *sums), row, strict=True)) for row in rows]


def disk_bytes(connection: Connection) -> int:
    """Return the size of the ledger's tables on disk in bytes."""
    if connection.dialect.name == "postgresql":
        sizes = [sa.func.pg_total_relation_size(name) for name in tables.tables]
        return sum(connection.execute(sa.select(*sizes)).one())
    pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    return int(pages * connection.exec_driver_sql("PRAGMA page_size").scalar_one())


@dataclass(frozen=True)
class Forgettable:
    """The completions that a filter selects: their number by model, paid tokens, and the partitions that used them.

    `vectors` is the number of cached embedding vectors that a filter by digest alone selects, too.
    """

    completions: Mapping[str, int]
    prompt_tokens: Mapping[str, int]
    completion_tokens: Mapping[str, int]
    partitions: Sequence[str]
    vectors: int = 0

    @property
    def count(self) -> int:
        """The number of completions."""
        return sum(self.completions.values())

    def cost(self, prices: Callable[[str], Prices | None]) -> float | None:
        """Return the cost of the completions, which is also the cost of sending their requests again.

        `prices` returns the prices of a model. The cost is None if those of one are unknown.
        """
        return known_sum(
            known.cost(self.prompt_tokens[model], self.completion_tokens[model]) if known else None
            for model, known in ((model, prices(model)) for model in self.completions)
        )


def forgettable(connection: Connection, chosen: CompletionFilter) -> Forgettable:
    """Return the completions that `forget` would delete."""
    columns = completions.c
    query = (
        sa.select(
            columns.model,
            sa.func.count(),
            sa.cast(sa.func.sum(columns.prompt_tokens), sa.BigInteger),
            sa.cast(sa.func.sum(columns.completion_tokens), sa.BigInteger),
        )
        .where(*chosen.conditions())
        .group_by(columns.model)
        .order_by(columns.model)
    )
    rows = connection.execute(query).all()
    vectors = sa.select(sa.func.count()).select_from(embeddings).where(_is_vector_of(chosen))
    used = sa.select(uses.c.domain, uses.c.assistant).where(uses.c.digest.in_(_digests(chosen))).distinct()
    partitions = sorted("/".join(filter(None, row)) for row in connection.execute(used))
    return Forgettable(
        {row[0]: row[1] for row in rows},
        {row[0]: row[2] for row in rows},
        {row[0]: row[3] for row in rows},
        partitions,
        connection.execute(vectors).scalar_one(),
    )


def forget(connection: Connection, chosen: CompletionFilter) -> int:
    """Delete completions, their uses and vectors. Return the number of deleted completions.

    The totals keep their usage. Partitions in the lake are unchanged; a rerun sends the requests again.
    """
    connection.execute(sa.delete(embeddings).where(_is_vector_of(chosen)))
    deleted = connection.execute(sa.delete(completions).where(*chosen.conditions())).rowcount
    connection.execute(sa.delete(uses).where(~sa.exists().where(completions.c.digest == uses.c.digest)))
    return deleted


def _is_vector_of(chosen: CompletionFilter) -> sa.ColumnElement[bool]:
    """Return the condition that a filter by digest alone selects a vector."""
    if chosen != CompletionFilter(digest=chosen.digest) or not chosen.digest:
        return sa.false()
    return embeddings.c.digest.startswith(chosen.digest, autoescape=True)


def _digests(chosen: CompletionFilter) -> sa.Select[Any]:
    return sa.select(completions.c.digest).where(*chosen.conditions())
