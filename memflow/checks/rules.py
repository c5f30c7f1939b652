"""What an expectation of a table is: a sentence, a rule, and how bad it is when it does not hold. Types alone.

The expectations of each table are in the modules beside this one and in the benchmarks' checks. evaluation.py
evaluates them; resources/gx.py translates them for Great Expectations; assets/checks.py runs them.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput

Severity = Literal["error", "warn"]
"""An `error` blocks the steps downstream; a `warn` is only shown."""


@dataclass(frozen=True)
class Unique:
    """No two rows have the same values in `columns`."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class Filled:
    """No row is null in any of `columns`."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class OneOf:
    """`column`, where it is not null, is one of `values`."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Between:
    """`column`, where it is not null, lies between `low` and `high`, both included."""

    column: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Rows:
    """The table has at least so many rows."""

    at_least: int = 1


@dataclass(frozen=True)
class Refers:
    """The values of `columns`, where none is null, are to be found in `others` of `table`.

    A list stands for each of its items, on either side. Values that begin with `besides` refer to what is made later.
    """

    columns: tuple[str, ...]
    table: str
    others: tuple[str, ...]
    besides: str | None = None


@dataclass(frozen=True)
class Covers:
    """Every row of `table` for which `only` holds has a row here with the same values in `columns`."""

    columns: tuple[str, ...]
    table: str
    only: Callable[[Any], bool] = lambda row: True


@dataclass(frozen=True)
class Each:
    """`holds` of every row, or of all but a share `but`."""

    holds: Callable[[Any], bool]
    but: float = 0.0


@dataclass(frozen=True)
class Together:
    """`at_fault` finds no row among all of them, or no more than a share `but`: it gives the positions of those that
    it finds."""

    at_fault: Callable[[Sequence[Any]], Collection[int]]
    but: float = 0.0


@dataclass(frozen=True)
class Across:
    """`at_fault` finds no row of the first of `tables`, given the rows of all of them in that order.

    It gives the positions of those that it finds. The expectation's own table is one of them.
    """

    tables: tuple[str, ...]
    at_fault: Callable[..., Collection[int]]


@dataclass(frozen=True)
class PerDomain:
    """A rule that depends on the domain, such as on a parameter. None: it does not apply to the domain."""

    rule: Callable[[Domain], "Rule | None"]


Rule = Unique | Filled | OneOf | Between | Rows | Refers | Covers | Each | Together | Across | PerDomain


@dataclass(frozen=True)
class Expectation:
    """What should hold of a table. `name` is the sentence; an `error` blocks what builds on the partition."""

    table: str
    name: str
    rule: Rule
    severity: Severity = "error"
    benchmark: str | None = None
    """The benchmark whose rows the expectation is about; None for rows of any benchmark."""

    @property
    def description(self) -> str:
        """The property in words."""
        return self.name.replace("_", " ").capitalize()

    def of(self, domain: Domain | None) -> "Expectation | None":
        """Return the expectation with its rule for `domain`, or None where it does not apply to the domain.

        Raises BadInput where the rule depends on the domain and none is given.
        """
        if domain is not None and self.benchmark not in (None, domain.benchmark):
            return None
        if not isinstance(self.rule, PerDomain):
            return self
        if domain is None:
            raise BadInput(f"{self.name} of {self.table} depends on the domain; name the domain to check")
        rule = self.rule.rule(domain)
        return None if rule is None else replace(self, rule=rule)


def of_benchmark(name: str, expectations: Iterable[Expectation]) -> tuple[Expectation, ...]:
    """Return expectations as those of one benchmark's rows; in domains of other benchmarks they do not apply."""
    return tuple(replace(each, benchmark=name) for each in expectations)


def sound(holds: Callable[[Any], bool]) -> Each:
    """`holds` of every row that is not quarantined."""
    return Each(lambda row: row.reason is not None or holds(row))
