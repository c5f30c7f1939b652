"""The expectations of every table, as data: a property, a rule, and its severity.

every.py        every table                    users.py        the tables from raw to feedback
assistants.py   memories, answers, scores      continual.py    scores over checkpoints
The expectations of one benchmark's rows are in that benchmark's expectations.py.

memflow/rules.py defines the rules, memflow/checks.py evaluates them, assets/checks.py runs them in the graph.
"""

from memflow.benchmarks.amemgym import expectations as amemgym
from memflow.benchmarks.comem import expectations as comem
from memflow.benchmarks.membench import expectations as membench
from memflow.benchmarks.memorybench import expectations as memorybench
from memflow.benchmarks.memorybench import played
from memflow.expectations import assistants, continual, every, users
from memflow.records import TABLES
from memflow.rules import (
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
            *every.EXPECTED,
            *users.EXPECTED,
            *assistants.EXPECTED,
            *continual.EXPECTED,
            *amemgym.EXPECTED,
            *memorybench.EXPECTED,
            *played.EXPECTED,
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
