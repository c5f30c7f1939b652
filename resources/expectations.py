"""Checks: memflow.expectations tested through Great Expectations, on frames of the lake's rows.

What should hold is said there; what a failure stops is assets/checks.py. Great Expectations judges columns of
a frame. What it has no expectation for (a reference to another table, a sentence about a whole row) becomes a
column of true and false that must be true throughout.

Importing Great Expectations costs seconds, so that happens inside the call, once a process.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Literal

from memflow.domains import Domain
from memflow.errors import MemflowError
from memflow.expectations import (
    EXPECTATIONS,
    Across,
    Between,
    Covers,
    Each,
    Expectation,
    Filled,
    OneOf,
    Refers,
    Rows,
    Together,
    Unique,
)
from memflow.records import KEYS, columns
from resources.lake import Lake
from resources.warehouse import Warehouse

SHOWN = 3
"""How many offending keys an outcome shows."""

Other = Callable[[str], Sequence[Any]]
"""The rows of another table, of the partition that belongs to the one under test."""


@dataclass(frozen=True)
class Outcome:
    """What became of an expectation: how many of `total` rows were not as expected, and keys of some."""

    name: str
    passed: bool
    severity: Literal["error", "warn"]
    unexpected: int
    total: int
    offending: tuple[str, ...]
    description: str


def check(table: str, partition: str, warehouse: Warehouse, domain: Domain | None = None) -> list[Outcome]:
    """The outcome of every expectation of `table` for one partition, in the order of memflow.expectations.

    `domain` is the partition's, where it has one. Raises MissingData where the partition, or one of another table that
    a rule refers to, is not in the lake.
    """
    lake = warehouse.lake
    expectations = [expectation for expectation in EXPECTATIONS if expectation.table == table]
    rows = lake.read(table, partition, vectors=False)
    return check_rows(table, rows, expectations, _others(lake, partition), domain)


def check_rows(
    table: str,
    rows: Sequence[Any],
    expectations: Sequence[Expectation],
    other: Other,
    domain: Domain | None = None,
) -> list[Outcome]:
    """The outcomes for rows in hand. Raises BadInput without a `domain` where an expectation depends on it."""
    expectations = [expectation.of(domain) for expectation in expectations]
    held: dict[str, Outcome] = {}
    here = [expectation for expectation in expectations if _judges(expectation) == table]
    for outcome in _judged(table, rows, here, other):
        held[outcome.name] = outcome
    for expectation in expectations:
        judged = _judges(expectation)
        if judged != table:
            # It is the other table's rows that are judged; to them, these are the other ones.
            rule = expectation.rule
            theirs = [row for row in other(judged) if not isinstance(rule, Covers) or rule.only(row)]

            def beside(name: str) -> Sequence[Any]:
                return rows if name == table else other(name)

            [held[expectation.name]] = _judged(judged, theirs, [expectation], beside)
    return [held[expectation.name] for expectation in expectations]


def _judges(expectation: Expectation) -> str:
    """The table whose rows an expectation judges: what is to be covered, or the first of several; else its own."""
    match expectation.rule:
        case Covers(_, table) | Across((table, *_)):
            return table
    return expectation.table


def _others(lake: Lake, partition: str) -> Other:
    @cache
    def rows(table: str) -> Sequence[Any]:
        by_assistant = "assistant" in {column.name for column in columns(table)}
        return lake.read(table, partition if by_assistant else partition.partition("/")[0], vectors=False)

    return rows


def _judged(
    table: str, rows: Sequence[Any], expectations: Sequence[Expectation], other: Other
) -> Iterator[Outcome]:
    """What Great Expectations says of a frame of `rows`: one suite, its tests named by their expectations."""
    if not expectations:
        return
    import pandas as pd

    frame: dict[str, list[Any]] = {}
    for expectation in expectations:
        for name, values in _columns(rows, expectation, other):
            frame[name] = values
    results: dict[str, list[Any]] = {expectation.name: [] for expectation in expectations}
    for result in _validated(pd.DataFrame(frame, index=range(len(rows))), expectations):
        results[result.expectation_config.meta["name"]].append(result)
    for expectation in expectations:
        yield _outcome(table, rows, expectation, results[expectation.name])


def _columns(rows: Sequence[Any], expectation: Expectation, other: Other) -> Iterator[tuple[str, list[Any]]]:
    """The columns that a rule is tested on: the table's own, or one of true and false, named as the rule."""
    rule = expectation.rule
    names: tuple[str, ...] = ()
    if isinstance(rule, Unique):
        names = rule.columns
    elif isinstance(rule, OneOf | Between):
        names = (rule.column,)
    for name in names:
        yield name, [getattr(row, name) for row in rows]
    if isinstance(rule, Filled):
        # One column of true and false, as a test costs milliseconds however little it looks at.
        yield expectation.name, [all(getattr(row, name) is not None for name in rule.columns) for row in rows]
    elif isinstance(rule, Each):
        yield expectation.name, [bool(rule.holds(row)) for row in rows]
    elif isinstance(rule, Together):
        at_fault = set(rule.at_fault(rows))
        yield expectation.name, [position not in at_fault for position in range(len(rows))]
    elif isinstance(rule, Across):
        at_fault = set(rule.at_fault(rows, *(other(table) for table in rule.tables[1:])))
        yield expectation.name, [position not in at_fault for position in range(len(rows))]
    elif isinstance(rule, Refers | Covers):
        theirs = rule.others if isinstance(rule, Refers) else rule.columns
        beside = rule.table if isinstance(rule, Refers) else expectation.table
        known = {values for row in other(beside) for values in _values(row, theirs)}
        besides = rule.besides if isinstance(rule, Refers) else None

        def found(values: tuple[Any, ...]) -> bool:
            return values in known or (besides is not None and str(values[0]).startswith(besides))

        yield expectation.name, [all(map(found, _values(row, rule.columns))) for row in rows]


def _values(row: Any, names: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """The values of a row in `names`, once for each item of a list; nothing where one is null."""
    values = (getattr(row, name) for name in names)
    return product(
        *(value if isinstance(value, list) else () if value is None else (value,) for value in values)
    )


def _validated(frame: Any, expectations: Sequence[Expectation]) -> list[Any]:
    batch = _batches().get_batch(batch_parameters={"dataframe": frame})
    import great_expectations as gx

    tests = [test for expectation in expectations for test in _tests(expectation)]
    return list(
        batch.validate(
            gx.ExpectationSuite(name="memflow", expectations=tests), result_format="SUMMARY"
        ).results
    )


def _tests(expectation: Expectation) -> list[Any]:
    """The tests of Great Expectations that an expectation comes to."""
    import great_expectations.expectations as gxe

    meta = {"name": expectation.name}
    tests: list[Any]
    match expectation.rule:
        case Unique((column,)):
            tests = [gxe.ExpectColumnValuesToBeUnique(column=column, meta=meta)]
        case Unique(several):
            tests = [gxe.ExpectCompoundColumnsToBeUnique(column_list=list(several), meta=meta)]
        case OneOf(column, values):
            tests = [gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(values), meta=meta)]
        case Between(column, low, high):
            tests = [
                gxe.ExpectColumnValuesToBeBetween(column=column, min_value=low, max_value=high, meta=meta)
            ]
        case Rows(at_least):
            tests = [gxe.ExpectTableRowCountToBeBetween(min_value=at_least, meta=meta)]
        case rule:
            mostly = 1 - rule.but if isinstance(rule, Each | Together) else 1
            column = expectation.name
            tests = [
                gxe.ExpectColumnValuesToBeInSet(column=column, value_set=[True], mostly=mostly, meta=meta)
            ]
    return tests


@cache
def _batches() -> Any:
    """Where frames become batches: one context for the process, which asks nothing of a network or a disk."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read when it is imported
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    frames = context.data_sources.add_pandas("memflow").add_dataframe_asset("rows")
    return frames.add_batch_definition_whole_dataframe("partition")


def _outcome(table: str, rows: Sequence[Any], expectation: Expectation, results: Sequence[Any]) -> Outcome:
    for result in results:
        # One exception, or one for each of the measurements that it came from.
        raised = result.exception_info or {}
        for each in (raised, *(value for value in raised.values() if isinstance(value, dict))):
            if each.get("raised_exception"):
                why = each.get("exception_message")
                raise MemflowError(f"Great Expectations could not test {expectation.name} of {table}: {why}")
    passed = all(result.success for result in results)
    if isinstance(expectation.rule, Rows):
        unexpected, at = int(not passed), []
    else:
        unexpected = sum(int(result.result["unexpected_count"]) for result in results)
        at = [position for result in results for position in result.result["partial_unexpected_index_list"]]
    return Outcome(
        name=expectation.name,
        passed=passed,
        severity=expectation.severity,
        unexpected=unexpected,
        total=len(rows),
        offending=tuple(_key(table, rows[position]) for position in sorted(set(at))[:SHOWN]),
        description=expectation.description,
    )


def _key(table: str, row: Any) -> str:
    return ", ".join(f"{name}={getattr(row, name)}" for name in KEYS[table])
