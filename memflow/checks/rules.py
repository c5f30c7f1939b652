"""Types of check rules for the rows of a table.

The rules of each table are in the other modules of this package and in each benchmark's checks. evaluation.py evaluates
them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.packaged import load_yaml
from memflow.errors import BadInput


class Findings(dict[int, str]):
    """Indices of violating rows with an explanation each.

    `note` is metadata of the check: how many rows were examined, and how many could not be examined.
    """

    note: str = ""


Severity = Literal["error", "fault", "warn"]
"""What a failure means: an `error` stops the steps downstream, a `fault` is an error that stops nothing."""


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
    """The rule that the values in `columns` exist in the columns `referenced` of `table`. Rows with a null pass.

    A list column, in either table, counts as one row per item. Values that begin with `exempt_prefix` are skipped.
    """

    columns: tuple[str, ...]
    table: str
    referenced: tuple[str, ...]
    exempt_prefix: str | None = None


@dataclass(frozen=True)
class RowForEvery:
    """The rule that each row of `table` that satisfies `where` has a row with equal `columns` in the checked table."""

    columns: tuple[str, ...]
    table: str
    where: Callable[[Any], bool] = lambda row: True


@dataclass(frozen=True)
class EachRow:
    """The rule that every row satisfies `holds`; a share of up to `tolerance` of the rows may violate the rule."""

    holds: Callable[[Any], bool]
    tolerance: float = 0.0


@dataclass(frozen=True)
class WholeTable:
    """The rule that `find_violations(rows)` returns the indices of at most the share `tolerance` of all rows."""

    find_violations: Callable[[Sequence[Any]], Collection[int]]
    tolerance: float = 0.0


@dataclass(frozen=True)
class AcrossTables:
    """A rule on several tables: `find_violations`, called with the rows of each table, must return no row index.

    Indices refer to the first table. The checked table is one of `tables`. `find_violations` may return `Findings`,
    which explain each violation.
    """

    tables: tuple[str, ...]
    find_violations: Callable[..., Collection[int]]


@dataclass(frozen=True)
class PerDomain:
    """A rule that depends on the parameters of the domain.

    The function `rule(domain)` returns the rule, or None if no rule applies to the domain.
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
    """A named rule on a table. `name` states the property; `benchmark` limits the rule to the rows of one benchmark.

    `text` describes the property in a sentence. Rules on columns describe themselves.
    """

    table: str
    name: str
    rule: Rule
    severity: Severity = "error"
    benchmark: str | None = None
    text: str = ""

    @property
    def description(self) -> str:
        """A sentence about the property: `text`, a sentence about the columns of the rule, or the name in words."""
        return self.text or describe_columns(self.rule) or self.name.replace("_", " ").capitalize()

    def for_domain(self, domain: Domain | None) -> "Expectation | None":
        """Return the expectation with the rule for `domain`, or None if no rule applies to the domain.

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
    """Return expectations of one table with one severity, given a mapping from check names to rules."""
    return tuple(Expectation(table, name, rule, severity) for name, rule in rules.items())


def expect_all(
    rules: Mapping[str, Mapping[str, Rule]], severity: Severity = "error"
) -> tuple[Expectation, ...]:
    """Return expectations of several tables, given the rules by table and check name."""
    return tuple(expectation for table in rules for expectation in expect(table, rules[table], severity))


def add_descriptions(expectations: Iterable[Expectation], package: str) -> tuple[Expectation, ...]:
    """Return the expectations with the descriptions in the package's `descriptions.yaml`, which are keyed by name."""
    texts: dict[str, str] = load_yaml(package, "descriptions.yaml")
    return tuple(replace(rule, text=texts.get(rule.name, rule.text)) for rule in expectations)


def describe_columns(rule: Rule) -> str:
    """Return a sentence about a rule that consists of columns and values, or an empty text for a rule with code."""
    match rule:
        case Unique(columns):
            text = f"No two rows have the same {_listed(columns, 'and')}."
        case NotNull(columns):
            text = f"Every row has a value in {_listed(columns, 'and')}."
        case AcceptedValues(column, values):
            text = f"The value of `{column}`, if not null, is {_listed(values, 'or')}."
        case Between(column, low, high):
            limits = {"at least": low, "at most": high}
            bounds = [f"{bound} {limit}" for bound, limit in limits.items() if limit is not None]
            text = f"The value of `{column}`, if not null, is {' and '.join(bounds)}."
        case MinimumRows(at_least):
            text = f"The table has at least {at_least} row{'s' * (at_least != 1)}."
        case ForeignKey(columns, table, referenced):
            text = f"Each {_listed(columns, 'and')} that is not null exists in {table} as {_listed(referenced, 'and')}."
        case _:
            text = ""
    return text


def _listed(names: Sequence[str], conjunction: str) -> str:
    *leading_names, last_name = (f"`{name}`" for name in names)
    return f"{', '.join(leading_names)} {conjunction} {last_name}" if leading_names else last_name


def each_valid_row(holds: Callable[[Any], bool]) -> EachRow:
    """Return the rule that `holds` is true for every row that is not quarantined."""
    return EachRow(lambda row: row.reason is not None or holds(row))
