"""The rules of every table: those shared by all benchmarks, and each benchmark's own."""

from memflow.benchmarks.amemgym import checks as amemgym
from memflow.benchmarks.comem import checks as comem
from memflow.benchmarks.membench import checks as membench
from memflow.benchmarks.memorybench import checks as memorybench
from memflow.checks import continual, every_table, inputs, outputs
from memflow.checks.rules import (
    Across,
    Between,
    Covers,
    Each,
    Expectation,
    Filled,
    OneOf,
    PerDomain,
    Refers,
    Rows,
    Rule,
    Together,
    Unique,
)
from memflow.records import TABLES

__all__ = [
    "EXPECTATIONS",
    "Across",
    "Between",
    "Covers",
    "Each",
    "Expectation",
    "Filled",
    "OneOf",
    "PerDomain",
    "Refers",
    "Rows",
    "Rule",
    "Together",
    "Unique",
    "expectations_of",
]

EXPECTATIONS: tuple[Expectation, ...] = tuple(
    sorted(
        [
            *every_table.EXPECTED,
            *inputs.EXPECTED,
            *outputs.EXPECTED,
            *continual.EXPECTED,
            *amemgym.EXPECTED,
            *memorybench.EXPECTED,
            *membench.EXPECTED,
            *comem.EXPECTED,
        ],
        key=lambda each: list(TABLES).index(each.table),
    )
)
"""Every expectation, ordered by table as in the pipeline."""


def expectations_of(table: str, benchmark: str | None = None) -> list[Expectation]:
    """Return the expectations of a table: the shared ones and those of `benchmark`; all where it is None."""
    return [
        each
        for each in EXPECTATIONS
        if each.table == table and (benchmark is None or each.benchmark in (None, benchmark))
    ]
