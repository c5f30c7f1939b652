"""Types of rules: what can be required of a table's rows.

The rules of each table are in the modules beside this one and in each benchmark's checks. evaluation.py evaluates
them; resources/gx.py translates them for Great Expectations.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput

Severity = Literal["error", "warn"]
"""An `error` blocks the downstream steps; a `warn` is only reported."""


@dataclass(frozen=True)
class Unique:
    """No two rows have the same values in `columns`."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class NotNull:
    """No row is null in any of `columns`."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class AcceptedValues:
    """`column` is null or one of `values`."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Between:
    """`column` is null or between `low` and `high`, inclusive."""

    column: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class MinimumRows:
    """The table has at least `at_least` rows."""

    at_least: int = 1


@dataclass(frozen=True)
class ForeignKey:
    """The values of `columns` exist in the columns `referenced` of `table`. Rows with a null among them are skipped.

    A list column, on either side, counts as one row per item. Values that begin with `exempt_prefix` are skipped.
    """

    columns: tuple[str, ...]
    table: str
    referenced: tuple[str, ...]
    exempt_prefix: str | None = None


@dataclass(frozen=True)
class RowForEvery:
    """Every row of `table` that satisfies `where` has a row in the checked table with the same `columns`."""

    columns: tuple[str, ...]
    table: str
    where: Callable[[Any], bool] = lambda row: True


@dataclass(frozen=True)
class EachRow:
    """Every row satisfies `holds`; at most the share `tolerance` of the rows may not."""

    holds: Callable[[Any], bool]
    tolerance: float = 0.0


@dataclass(frozen=True)
class WholeTable:
    """`find_violations(rows)` returns the positions of at most the share `tolerance` of all rows."""

    find_violations: Callable[[Sequence[Any]], Collection[int]]
    tolerance: float = 0.0


@dataclass(frozen=True)
class AcrossTables:
    """`find_violations(rows, ...)` returns no positions in the first of `tables`; it gets the rows of all of them.

    The checked table is one of `tables`.
    """

    tables: tuple[str, ...]
    find_violations: Callable[..., Collection[int]]


@dataclass(frozen=True)
class PerDomain:
    """`rule(domain)` returns the rule for a domain, or None where none applies: for rules that need its parameters."""

    rule: Callable[[Domain], "Rule | None"]


Rule = (
    Unique
    | NotNull
    | AcceptedValues
    | Between
    | MinimumRows
    | ForeignKey
    | RowForEvery
    | EachRow
    | WholeTable
    | AcrossTables
    | PerDomain
)


@dataclass(frozen=True)
class Expectation:
    """A named rule on a table. `name` states the property; `benchmark` limits it to the rows of one benchmark."""

    table: str
    name: str
    rule: Rule
    severity: Severity = "error"
    benchmark: str | None = None

    @property
    def description(self) -> str:
        """The name as words."""
        return self.name.replace("_", " ").capitalize()

    def for_domain(self, domain: Domain | None) -> "Expectation | None":
        """Return the expectation with its rule for `domain`, or None where it does not apply to the domain.

        Raises BadInput where the rule depends on the domain and `domain` is None.
        """
        if domain is not None and self.benchmark not in (None, domain.benchmark):
            return None
        if not isinstance(self.rule, PerDomain):
            return self
        if domain is None:
            raise BadInput(
                f"the check {self.name} of {self.table} depends on the domain, but no domain is given. "
                "Select one with --domain."
            )
        rule = self.rule.rule(domain)
        return None if rule is None else replace(self, rule=rule)


def expect(table: str, rules: Mapping[str, Rule], severity: Severity = "error") -> tuple[Expectation, ...]:
    """Return the expectations of one table with the same severity, given by name."""
    return tuple(Expectation(table, name, rule, severity) for name, rule in rules.items())


def of_benchmark(name: str, expectations: Iterable[Expectation]) -> tuple[Expectation, ...]:
    """Limit expectations to the rows of the benchmark `name`."""
    return tuple(replace(each, benchmark=name) for each in expectations)


def each_valid_row(holds: Callable[[Any], bool]) -> EachRow:
    """Require `holds` of every row that is not quarantined."""
    return EachRow(lambda row: row.reason is not None or holds(row))
