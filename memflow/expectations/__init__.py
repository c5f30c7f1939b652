"""What must hold of every table, as data: a sentence, a rule, and how bad it is when it does not hold.

every.py        of every table                 users.py        of the tables from raw to feedback
assistants.py   of memories, answers, scores   continual.py    of what changes over checkpoints
and of a benchmark's own rows, its expectations.py

What a rule is, memflow/rules.py; how it is tested, resources/expectations.py; when, and what a failure stops,
assets/checks.py. A benchmark's own sentences pass over the rows of others.
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
"""Every expectation, by table in the order of the walk."""
