"""All check rules by table: the shared rules, and the rules that each benchmark declares (`spec.checks`)."""

from functools import cache

from memflow.benchmarks import registry
from memflow.checks import every_table, inputs, outputs
from memflow.checks.rules import Expectation, add_descriptions
from memflow.records import TABLES

SHARED = add_descriptions((*every_table.EXPECTED, *inputs.EXPECTED, *outputs.EXPECTED), "memflow.checks")
"""The rules that hold for every benchmark."""


@cache
def all_expectations() -> tuple[Expectation, ...]:
    """Return the rules of all tables and benchmarks, ordered by table as in the pipeline."""
    expectations = [*SHARED, *registry.all_expectations()]
    return tuple(sorted(expectations, key=lambda expectation: list(TABLES).index(expectation.table)))


def expectations_of(table: str, benchmark: str | None = None) -> list[Expectation]:
    """Return the rules of a table: the shared rules, and the rules of `benchmark` or, without `benchmark`, of all
    benchmarks.
    """
    expectations = all_expectations() if benchmark is None else (*SHARED, *registry.expectations(benchmark))
    return [expectation for expectation in expectations if expectation.table == table]
