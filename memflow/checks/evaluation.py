"""Evaluation of expectations over the rows of a table: which rows violate which rule.

Rules are types in memflow/checks/rules.py and data in the modules beside it. This module knows no store: rows and a
function that returns the rows of other tables are arguments. Great Expectations evaluates the same rules in
resources/gx.py, and a test compares the two.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import product
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.checks.rules import (
    Across,
    Between,
    Covers,
    Each,
    Expectation,
    Filled,
    OneOf,
    Refers,
    Rows,
    Severity,
    Together,
    Unique,
)
from memflow.errors import MemflowError
from memflow.records import KEYS

OFFENDING_KEYS = 3
"""Number of offending rows that a result names."""

OtherRows = Callable[[str], Sequence[Any]]
"""Return the rows of another table, for the partition that belongs to the one under check."""


class Engine(StrEnum):
    """What evaluates rules: this module, or Great Expectations."""

    memflow = "memflow"
    gx = "gx"


KnownValues = Callable[[str, tuple[str, ...]], set[tuple[Any, ...]]]
"""Return the values that some columns have together in the rows of a table."""


@dataclass(frozen=True)
class RuleResult:
    """The result of one rule: `unexpected` of `total` rows violate it, and `offending` are keys of some.

    `error` is set where the rule itself raised: the exception, and the key of the first row on which it did.
    """

    table: str
    name: str
    passed: bool
    severity: Severity
    unexpected: int
    total: int
    offending: tuple[str, ...]
    description: str
    error: str | None = None


class RuleError(Exception):
    """A rule raised an exception on the row at `position`, or on no single row."""

    def __init__(self, cause: Exception, position: int | None = None) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.position = position


def check_rows(
    table: str,
    rows: Sequence[Any],
    expectations: Sequence[Expectation],
    other: OtherRows,
    domain: Domain | None = None,
) -> list[RuleResult]:
    """Evaluate the expectations of `table` that apply to `domain`, in their order.

    A rule that raises fails and names itself, the table and the row; the other rules are still evaluated. Raises
    BadInput without a `domain` where a rule depends on it, and whatever MemflowError `other` raises.
    """

    def rows_of(name: str) -> Sequence[Any]:
        return rows if name == table else other(name)

    known = known_values(rows_of)
    return [_evaluate(each, rows_of, known) for each in applicable(expectations, domain)]


def combined(results: Iterable[RuleResult]) -> list[RuleResult]:
    """Add up the results of several partitions, rule by rule."""
    grouped: dict[tuple[str, str], list[RuleResult]] = {}
    for each in results:
        grouped.setdefault((each.table, each.name), []).append(each)
    return [
        replace(
            of_rule[0],
            passed=all(each.passed for each in of_rule),
            unexpected=sum(each.unexpected for each in of_rule),
            total=sum(each.total for each in of_rule),
            offending=tuple(key for each in of_rule for key in each.offending)[:OFFENDING_KEYS],
            error=next((each.error for each in of_rule if each.error), None),
        )
        for of_rule in grouped.values()
    ]


def applicable(expectations: Iterable[Expectation], domain: Domain | None) -> Iterator[Expectation]:
    """Yield the expectations that apply to `domain`, each with its rule for that domain."""
    for expectation in expectations:
        resolved = expectation.of(domain)
        if resolved is not None:
            yield resolved


def checked_table(expectation: Expectation) -> str:
    """Return the table whose rows an expectation counts: the one to be covered, or the first of several; else its
    own."""
    match expectation.rule:
        case Covers(_, table) | Across((table, *_)):
            return table
    return expectation.table


def row_key(table: str, row: Any) -> str:
    """Return the key of a row as text: `domain=d, probe_id=p1`."""
    return ", ".join(f"{name}={getattr(row, name)}" for name in KEYS[table])


def known_values(rows_of: OtherRows) -> KnownValues:
    """Return a function that collects the values of some columns of a table, once each."""

    @cache
    def known(table: str, columns: tuple[str, ...]) -> set[tuple[Any, ...]]:
        return {values for row in rows_of(table) for values in _values(row, columns)}

    return known


def _evaluate(expectation: Expectation, rows_of: OtherRows, known: KnownValues) -> RuleResult:
    table = checked_table(expectation)
    rows = rows_of(table)
    error = None
    try:
        rows = rows_under(expectation, rows_of)
        positions = sorted(violations(expectation, rows, rows_of, known))
    except RuleError as wrong:
        positions = [] if wrong.position is None else [wrong.position]
        where = "" if wrong.position is None else f" on row {row_key(table, rows[wrong.position])}"
        error = f"rule {expectation.name} of {expectation.table} raised {wrong}{where}"
    missing_rows = isinstance(expectation.rule, Rows) and len(rows) < expectation.rule.at_least
    share = getattr(expectation.rule, "but", 0.0)
    tolerated = not rows or (len(rows) - len(positions)) / len(rows) >= 1 - share
    return RuleResult(
        table=table,
        name=expectation.name,
        passed=error is None and tolerated and not missing_rows,
        severity=expectation.severity,
        unexpected=len(positions) + missing_rows,
        total=len(rows),
        offending=tuple(row_key(table, rows[at]) for at in positions[:OFFENDING_KEYS]),
        description=expectation.description,
        error=error,
    )


def rows_under(expectation: Expectation, rows: OtherRows) -> Sequence[Any]:
    """Return the rows that an expectation counts. Raises RuleError where the rule's own filter raises."""
    found = rows(checked_table(expectation))
    if not isinstance(expectation.rule, Covers):
        return found
    left_out = _not(found, expectation.rule.only)
    return [row for at, row in enumerate(found) if at not in left_out]


def violations(
    expectation: Expectation,
    rows: Sequence[Any],
    other: OtherRows,
    known: KnownValues,
) -> set[int]:
    """Return the positions of the rows that violate a rule; of `Rows`, which is about no single row, none.

    Raises RuleError where the rule raised; what `other` raises, such as MissingData, passes through.
    """
    match expectation.rule:
        case Rows():
            return set()
        case Unique(columns):
            return _attempt(lambda: _duplicates(rows, columns))
        case Together(at_fault):
            return _attempt(lambda: set(at_fault(rows)))
        case Across(tables, at_fault):
            others = [other(name) for name in tables[1:]]
            return _attempt(lambda: set(at_fault(rows, *others)))
    return _not(rows, _row_rule(expectation, known))


def _row_rule(expectation: Expectation, known: KnownValues) -> Callable[[Any], bool]:
    """Return the function that tells whether a single row satisfies a rule."""
    match expectation.rule:
        case Filled(columns):
            return lambda row: all(getattr(row, name) is not None for name in columns)
        case OneOf(column, values):
            allowed = frozenset(values)
            return lambda row: getattr(row, column) is None or getattr(row, column) in allowed
        case Between(column, low, high):

            def inside(row: Any) -> bool:
                value = getattr(row, column)
                return value is None or ((low is None or low <= value) and (high is None or value <= high))

            return inside
        case Refers(columns, table, others, besides):
            referable = known(table, others)

            def found(values: tuple[Any, ...]) -> bool:
                return values in referable or (besides is not None and str(values[0]).startswith(besides))

            return lambda row: all(map(found, _values(row, columns)))
        case Covers(columns, _):
            covered = known(expectation.table, columns)
            return lambda row: all(values in covered for values in _values(row, columns))
        case Each(holds):
            return holds
    raise MemflowError(f"{type(expectation.rule).__name__} is no rule that can be evaluated")


def _not(rows: Sequence[Any], holds: Callable[[Any], bool]) -> set[int]:
    """Return the positions of the rows for which `holds` is false. Raises RuleError with the row on which it raises."""
    at, found = -1, set()
    try:
        for at, row in enumerate(rows):
            if not holds(row):
                found.add(at)
    except Exception as wrong:
        raise RuleError(wrong, at) from wrong
    return found


def _attempt(work: Callable[[], set[int]]) -> set[int]:
    try:
        return work()
    except Exception as wrong:
        raise RuleError(wrong) from wrong


def _duplicates(rows: Sequence[Any], columns: tuple[str, ...]) -> set[int]:
    """Return the positions of rows that share their values in `columns`; rows that are null in all of them do not."""
    values = [tuple(getattr(row, name) for name in columns) for row in rows]
    counts: Mapping[tuple[Any, ...], int] = Counter(values)
    return {
        at for at, each in enumerate(values) if counts[each] > 1 and any(value is not None for value in each)
    }


def _values(row: Any, names: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """Return the values of a row in `names`, once for each item of a list; nothing where one is null."""
    values = (getattr(row, name) for name in names)
    return product(
        *(value if isinstance(value, list) else () if value is None else (value,) for value in values)
    )
