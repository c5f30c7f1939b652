"""Checks of a lake partition against the rules of its table, which may refer to rows of other tables.

memflow/checks/evaluation.py evaluates the rules; assets/checks.py blocks downstream steps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.checks.evaluation import OtherColumns, OtherRows, RuleResult, check_rows
from memflow.checks.expectations import expectations_of
from memflow.pipeline import WRITERS
from memflow.records import columns
from memflow.repeats import source_of
from memflow.resources.data.library import Library
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings


@dataclass(frozen=True)
class Scope:
    """The domain or benchmark that the rows of a partition belong to; both are None for tables over all domains."""

    domain: Domain | None = None
    benchmark: str | None = None

    @classmethod
    def of(cls, table: str, partition: str, settings: Settings) -> "Scope":
        """Return the scope of a partition. Raises BadSettings for an unknown domain or data set."""
        if table == "raw.records":
            return cls(benchmark=Library(settings.data, settings.datasets).dataset(partition).benchmark)
        if WRITERS[table].scope == "all":
            return cls()
        domain = settings.domain(partition.partition("/")[0])
        return cls(domain, domain.benchmark)


def check_partition(table: str, partition: str, lake: Lake, scope: Scope) -> list[RuleResult]:
    """Return the result of every rule of `table` that applies to a partition, in the declared order.

    Raises MissingData if the partition, or a partition of a referenced table, is not in the lake.
    """
    rows = lake.read(table, partition, vectors=False)
    rules = expectations_of(table, scope.benchmark)
    return check_rows(
        table, rows, rules, _other_rows(lake, partition), scope.domain, _other_columns(lake, partition)
    )


def _other_rows(lake: Lake, partition: str) -> OtherRows:
    """Return a function that reads another table's rows of the same domain, and of the same assistant if any."""

    @cache
    def rows(table: str) -> Sequence[Any]:
        return lake.read(table, _partition_of(table, partition), vectors=False)

    return rows


def _other_columns(lake: Lake, partition: str) -> OtherColumns:
    """Return a function that yields columns of another table's rows, which it selects like `_other_rows`."""

    def values(table: str, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        return lake.columns(table, _partition_of(table, partition), names)

    return values


def _partition_of(table: str, partition: str) -> str:
    """Return the partition of another table that belongs to a partition `domain` or `domain/assistant`."""
    by_assistant = "assistant" in {column.name for column in columns(table)}
    domain, slash, assistant = partition.partition("/")
    return f"{domain}{slash}{source_of(table, assistant)}" if by_assistant else domain
