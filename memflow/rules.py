"""What an expectation of a table is: a sentence, a rule, and how bad it is when it does not hold. Types alone.

What is expected of which table is memflow/expectations and the benchmarks' expectations.py; how a rule is tested is
resources/expectations.py; when, and what a failure stops, is assets/checks.py.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from memflow.domains import Domain
from memflow.errors import BadInput


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
    """The rule depends on the domain: on how many of something it is to have."""

    rule: Callable[[Domain], "Rule"]


Rule = Unique | Filled | OneOf | Between | Rows | Refers | Covers | Each | Together | Across | PerDomain


@dataclass(frozen=True)
class Expectation:
    """What should hold of a table. `name` is the sentence; an `error` blocks what builds on the partition."""

    table: str
    name: str
    rule: Rule
    severity: Literal["error", "warn"] = "error"

    @property
    def description(self) -> str:
        """The sentence in words, and whether it blocks."""
        sentence = self.name.replace("_", " ").capitalize()
        blocks = (
            "Blocks what is built on the partition."
            if self.severity == "error"
            else "Warns, and blocks nothing."
        )
        return f"{sentence}. {blocks}"

    def of(self, domain: Domain | None) -> "Expectation":
        """The same expectation with the rule that it comes to in `domain`. Raises BadInput where it needs one."""
        if not isinstance(self.rule, PerDomain):
            return self
        if domain is None:
            raise BadInput(f"{self.name} of {self.table} depends on the domain; say which one is tested")
        return replace(self, rule=self.rule.rule(domain))


def sound(holds: Callable[[Any], bool]) -> Each:
    """`holds` of every row that is not quarantined."""
    return Each(lambda row: row.reason is not None or holds(row))
