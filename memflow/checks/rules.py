"""Types of rules for the rows of a table.

The rules of each table are in the other modules of this package and in each benchmark's checks. evaluation.py evaluates
them; resources/gx.py translates them for Great Expectations.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput

Severity = Literal["error", "warn"]
"""An `error` blocks the downstream steps; a `warn` is only reported."""

SPELLINGS = {"json": "JSON", "iso": "ISO", "no context": "no-context"}
"""The spelling in descriptions of words that a rule name writes differently."""


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
    """The values of `columns` exist in the columns `referenced` of `table`. Rows with a null in `columns` are skipped.

    A list column, in either table, counts as one row per item. Values that begin with `exempt_prefix` are skipped.
    """

    columns: tuple[str, ...]
    table: str
    referenced: tuple[str, ...]
    exempt_prefix: str | None = None


@dataclass(frozen=True)
class RowForEvery:
    """For every row of `table` that satisfies `where`, the checked table has a row with the same `columns`."""

    columns: tuple[str, ...]
    table: str
    where: Callable[[Any], bool] = lambda row: True


@dataclass(frozen=True)
class EachRow:
    """Every row satisfies `holds`, except for at most the share `tolerance` of the rows."""

    holds: Callable[[Any], bool]
    tolerance: float = 0.0


@dataclass(frozen=True)
class WholeTable:
    """`find_violations(rows)` returns the positions of violating rows: at most the share `tolerance` of all rows."""

    find_violations: Callable[[Sequence[Any]], Collection[int]]
    tolerance: float = 0.0


@dataclass(frozen=True)
class AcrossTables:
    """`find_violations(rows, ...)` returns no positions. It gets the rows of all `tables`; positions refer to the
    first.

    The checked table is one of `tables`.
    """

    tables: tuple[str, ...]
    find_violations: Callable[..., Collection[int]]


@dataclass(frozen=True)
class PerDomain:
    """`rule(domain)` returns the rule for a domain, or None if no rule applies.

    This type is for rules that need the parameters of the domain.
    """

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
    """A named rule on a table. `name` states the property; `benchmark` limits the rule to the rows of one benchmark."""

    table: str
    name: str
    rule: Rule
    severity: Severity = "error"
    benchmark: str | None = None

    @property
    def description(self) -> str:
        """The name in words, for example `Entity attributes are JSON object`."""
        words = self.name.replace("_", " ")
        for written, spelling in SPELLINGS.items():
            words = re.sub(rf"\b{written}\b", spelling, words)
        return words[0].upper() + words[1:]

    def for_domain(self, domain: Domain | None) -> "Expectation | None":
        """Return the expectation with its rule for `domain`, or None if it does not apply to the domain.

        Raises BadInput if the rule depends on the domain and `domain` is None.
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
    """Return expectations of one table, with the same severity, from a mapping of names to rules."""
    return tuple(Expectation(table, name, rule, severity) for name, rule in rules.items())


def of_benchmark(name: str, expectations: Iterable[Expectation]) -> tuple[Expectation, ...]:
    """Limit expectations to the rows of the benchmark `name`."""
    return tuple(replace(each, benchmark=name) for each in expectations)


def each_valid_row(holds: Callable[[Any], bool]) -> EachRow:
    """Return a rule that requires `holds` of every row that is not quarantined."""
    return EachRow(lambda row: row.reason is not None or holds(row))
