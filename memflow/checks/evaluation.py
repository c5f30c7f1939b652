"""Evaluation of check rules over the rows of a table.

Rows are arguments and a function returns the rows of other tables, so this module depends on no store.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.checks.rules import (
    AcceptedValues,
    AcrossTables,
    Between,
    EachRow,
    Expectation,
    Findings,
    ForeignKey,
    MinimumRows,
    NotNull,
    RowForEvery,
    Severity,
    Unique,
    WholeTable,
)
from memflow.errors import MemflowError
from memflow.records import KEYS

OFFENDING_KEYS = 3
"""Maximum number of offending rows that a result names."""

OtherRows = Callable[[str], Sequence[Any]]
"""Returns the rows of another table for the partition that is checked."""

OtherColumns = Callable[[str, tuple[str, ...]], Iterable[tuple[Any, ...]]]
"""Returns some columns of another table for the partition that is checked, one tuple per row."""


_KnownValues = Callable[[str, tuple[str, ...]], set[tuple[Any, ...]]]
"""Returns the distinct combinations of values of some columns of a table."""


@dataclass(frozen=True)
class RuleResult:
    """The result of one rule: `unexpected` of `total` rows violate the rule; `offending` lists the keys of some rows.

    A key is followed by the rule's explanation or the row's reason, if any. `note` states how many rows the rule could
    not check. If the rule raised an exception, `error` contains the exception and the key of the row that caused it.
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
    note: str = ""


class _RuleError(Exception):
    """An exception that a rule raised, with the index of the row, or None for a rule on all rows together."""

    def __init__(self, cause: Exception, position: int | None = None) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.position = position


def check_rows(
    table: str,
    rows: Sequence[Any],
    expectations: Sequence[Expectation],
    other: OtherRows,
    domain: Domain | None = None,
    other_columns: OtherColumns | None = None,
) -> list[RuleResult]:
    """Return the results of the expectations of `table` that apply to `domain`, in the declared order.

    With `other_columns`, foreign keys do not need the rows of other tables, which may be large.

    A rule that raises an exception fails, with the exception in its result; the other rules are still evaluated. Raises
    BadInput if a rule depends on the domain and `domain` is None, and any MemflowError that `other` raises.
    """

    def rows_of(name: str) -> Sequence[Any]:
        return rows if name == table else other(name)

    known_values = _known_values(table, rows_of, other_columns)
    return [_evaluate(rule, rows_of, known_values) for rule in _applicable(expectations, domain)]


def combine(results: Iterable[RuleResult]) -> list[RuleResult]:
    """Return the results of several partitions summed up to one result per rule."""
    results_by_rule: dict[tuple[str, str], list[RuleResult]] = {}
    for result in results:
        results_by_rule.setdefault((result.table, result.name), []).append(result)
    return [
        replace(
            rule_results[0],
            passed=all(result.passed for result in rule_results),
            unexpected=sum(result.unexpected for result in rule_results),
            total=sum(result.total for result in rule_results),
            offending=tuple(key for result in rule_results for key in result.offending)[:OFFENDING_KEYS],
            error=next((result.error for result in rule_results if result.error), None),
            note="; ".join(dict.fromkeys(result.note for result in rule_results if result.note)),
        )
        for rule_results in results_by_rule.values()
    ]


def _applicable(expectations: Iterable[Expectation], domain: Domain | None) -> Iterator[Expectation]:
    """Yield each expectation that applies to `domain`, with its domain-dependent rule replaced by the domain's rule."""
    for expectation in expectations:
        domain_expectation = expectation.for_domain(domain)
        if domain_expectation is not None:
            yield domain_expectation


def _checked_table(expectation: Expectation) -> str:
    """Return the table whose rows are checked. For RowForEvery and AcrossTables, this may be another table."""
    match expectation.rule:
        case RowForEvery(_, table) | AcrossTables((table, *_)):
            return table
    return expectation.table


def row_key(table: str, row: Any) -> str:
    """Return the key of a row as text: `domain=d, probe_id=p1`."""
    return ", ".join(f"{name}={getattr(row, name)}" for name in KEYS[table])


def explained_key(table: str, row: Any, explanation: str) -> str:
    """Return the key of a row as text, with the explanation of its violation or else the row's reason, if any."""
    text = explanation or getattr(row, "reason", None)
    return f"{row_key(table, row)}: {text}" if text else row_key(table, row)


def _as_findings(indices: Collection[int]) -> Findings:
    """Return row indices as findings without explanations; findings are returned unchanged."""
    return indices if isinstance(indices, Findings) else Findings(dict.fromkeys(indices, ""))


def _known_values(
    checked: str, rows_of: OtherRows, other_columns: OtherColumns | None = None
) -> _KnownValues:
    """Return a cached function that returns the distinct values of given columns of a table.

    Values of tables other than `checked` come from `other_columns`, if given, and not from rows.
    """

    @cache
    def known(table: str, columns: tuple[str, ...]) -> set[tuple[Any, ...]]:
        if other_columns is None or table == checked:
            return {values for row in rows_of(table) for values in _values(row, columns)}
        return {values for row in other_columns(table, columns) for values in _combinations(row)}

    return known


def _evaluate(expectation: Expectation, rows_of: OtherRows, known_values: _KnownValues) -> RuleResult:
    """Return the result of one rule; an exception of the rule becomes its `error`. Raises the errors of `rows_of`."""
    table = _checked_table(expectation)
    rows = rows_of(table)
    error, findings = None, Findings()
    try:
        rows = _checked_rows(expectation, rows_of)
        findings = _violations(expectation, rows, rows_of, known_values)
    except _RuleError as failure:
        findings = _as_findings([] if failure.position is None else [failure.position])
        row_text = "" if failure.position is None else f" on row {row_key(table, rows[failure.position])}"
        error = f"rule {expectation.name} of {expectation.table} raised {failure}{row_text}"
    positions = sorted(findings)
    missing_rows = isinstance(expectation.rule, MinimumRows) and len(rows) < expectation.rule.at_least
    share = getattr(expectation.rule, "tolerance", 0.0)
    tolerated = not rows or (len(rows) - len(positions)) / len(rows) >= 1 - share
    return RuleResult(
        table=table,
        name=expectation.name,
        passed=error is None and tolerated and not missing_rows,
        severity=expectation.severity,
        unexpected=len(positions) + missing_rows,
        total=len(rows),
        offending=tuple(explained_key(table, rows[i], findings[i]) for i in positions[:OFFENDING_KEYS]),
        description=expectation.description,
        error=error,
        note=findings.note,
    )


def _checked_rows(expectation: Expectation, rows: OtherRows) -> Sequence[Any]:
    """Return the rows that an expectation checks. Raises _RuleError if the rule's filter raises an exception."""
    table_rows = rows(_checked_table(expectation))
    if not isinstance(expectation.rule, RowForEvery):
        return table_rows
    excluded = _violating_rows(table_rows, expectation.rule.where)
    return [row for index, row in enumerate(table_rows) if index not in excluded]


def _violations(
    expectation: Expectation, rows: Sequence[Any], other: OtherRows, known_values: _KnownValues
) -> Findings:
    """Return the indices of the rows that violate a rule; empty for MinimumRows, which no single row violates.

    Raises _RuleError if the rule raises an exception, and the errors of `other`, such as MissingData.
    """
    match expectation.rule:
        case MinimumRows():
            return Findings()
        case Unique(columns):
            return _attempt(lambda: _duplicates(rows, columns))
        case WholeTable(find_violations):
            return _attempt(lambda: find_violations(rows))
        case AcrossTables(tables, find_violations):
            other_rows = [other(name) for name in tables[1:]]
            return _attempt(lambda: find_violations(rows, *other_rows))
    return _as_findings(_violating_rows(rows, _row_rule(expectation, known_values)) if rows else ())


def _row_rule(expectation: Expectation, known_values: _KnownValues) -> Callable[[Any], bool]:
    """Return a function that checks a single row against the rule of an expectation."""
    match expectation.rule:
        case NotNull(columns):
            return lambda row: all(getattr(row, name) is not None for name in columns)
        case AcceptedValues(column, values):
            accepted = frozenset(values)
            return lambda row: getattr(row, column) is None or getattr(row, column) in accepted
        case Between(column, low, high):

            def inside(row: Any) -> bool:
                value = getattr(row, column)
                return value is None or ((low is None or low <= value) and (high is None or value <= high))

            return inside
        case ForeignKey(columns, table, referenced, exempt_prefix):
            existing = known_values(table, referenced)

            def found(values: tuple[Any, ...]) -> bool:
                exempt = exempt_prefix is not None and str(values[0]).startswith(exempt_prefix)
                return exempt or values in existing

            return lambda row: all(map(found, _values(row, columns)))
        case RowForEvery(columns, _):
            covered_values = known_values(expectation.table, columns)
            return lambda row: all(values in covered_values for values in _values(row, columns))
        case EachRow(holds):
            return holds
    raise MemflowError(
        f"the rule {type(expectation.rule).__name__} cannot be evaluated on rows. Call Expectation.for_domain first; "
        "for a new rule, add a case here."
    )


def _violating_rows(rows: Sequence[Any], holds: Callable[[Any], bool]) -> set[int]:
    """Return the indices of rows for which `holds` returns False. Raises _RuleError if `holds` raises an exception."""
    index, violating = -1, set()
    try:
        for index, row in enumerate(rows):
            if not holds(row):
                violating.add(index)
    except Exception as error:
        raise _RuleError(error, index) from error
    return violating


def _attempt(work: Callable[[], Collection[int]]) -> Findings:
    """Return the findings of a rule on all rows together. Raises _RuleError if the rule raises an exception."""
    try:
        return _as_findings(work())
    except Exception as error:
        raise _RuleError(error) from error


def _duplicates(rows: Sequence[Any], columns: tuple[str, ...]) -> set[int]:
    """Return the indices of rows whose values in `columns` occur more than once; rows with only nulls are skipped."""
    values = [tuple(getattr(row, name) for name in columns) for row in rows]
    counts: Mapping[tuple[Any, ...], int] = Counter(values)
    return {i for i, key in enumerate(values) if counts[key] > 1 and any(value is not None for value in key)}


def _values(row: Any, names: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """Return the row's values in the columns `names`, one tuple per combination of list items; empty for a null."""
    return _combinations(getattr(row, name) for name in names)


def _combinations(values: Iterable[Any]) -> Iterable[tuple[Any, ...]]:
    return product(
        *(value if isinstance(value, list) else () if value is None else (value,) for value in values)
    )
