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
    """The rule that no two rows have the same values in `columns`."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class NotNull:
    """The rule that no row is null in any of `columns`."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class AcceptedValues:
    """The rule that `column` is null or one of `values`."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Between:
    """The rule that `column` is null or between `low` and `high`, inclusive."""

    column: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class MinimumRows:
    """The rule that the table has at least `at_least` rows."""

    at_least: int = 1


@dataclass(frozen=True)
class ForeignKey:
    """The rule that the values of `columns` exist in `referenced` of `table`. Rows with a null are skipped.

    A list column, in either table, counts as one row per item. Values that begin with `exempt_prefix` are skipped.
    """

    columns: tuple[str, ...]
    table: str
    referenced: tuple[str, ...]
    exempt_prefix: str | None = None


@dataclass(frozen=True)
class RowForEvery:
    """The rule that the checked table has a row with equal `columns` for each row of `table` that satisfies `where`."""

    columns: tuple[str, ...]
    table: str
    where: Callable[[Any], bool] = lambda row: True


@dataclass(frozen=True)
class EachRow:
    """The rule that every row satisfies `holds`, except for at most the share `tolerance` of the rows."""

    holds: Callable[[Any], bool]
    tolerance: float = 0.0


@dataclass(frozen=True)
class WholeTable:
    """The rule that at most the share `tolerance` of rows is in the positions from `find_violations(rows)`."""

    find_violations: Callable[[Sequence[Any]], Collection[int]]
    tolerance: float = 0.0


@dataclass(frozen=True)
class AcrossTables:
    """The rule that `find_violations(rows, ...)` returns no position, given the rows of all `tables`.

    Positions refer to the first table. The checked table is one of `tables`.
    """

    tables: tuple[str, ...]
    find_violations: Callable[..., Collection[int]]


@dataclass(frozen=True)
class PerDomain:
    """A rule that depends on the domain: `rule(domain)` returns a rule, or None if no rule applies.

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
    """Return the expectations, limited to the rows of the benchmark `name`."""
    return tuple(replace(each, benchmark=name) for each in expectations)


def each_valid_row(holds: Callable[[Any], bool]) -> EachRow:
    """Return a rule that requires `holds` of every row that is not quarantined."""
    return EachRow(lambda row: row.reason is not None or holds(row))
