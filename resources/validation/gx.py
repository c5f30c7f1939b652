"""Great Expectations: validates the input and output of the pipeline, and evaluates any rule on demand.

SUITES declares expectations on raw/records and score/leaderboard; assets/checks.py validates them in every run.
`suite_of` translates the rules of any table, for `memflow checks --engine gx`. Rules without a matching expectation
(references to other tables, properties of whole rows) become a Boolean column. memflow/checks/evaluation.py evaluates
rules without Great Expectations.

Importing Great Expectations takes seconds and 80 MB, so it is imported on first use, once per process, without the
libraries of its statistical tests and plots (UNUSED). Great Expectations is not thread-safe: the validations of a
process run one after another.
"""

import gc
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.checks.evaluation import (
    OFFENDING_KEYS,
    OtherColumns,
    OtherRows,
    RuleError,
    RuleResult,
    applicable,
    check_rows,
    checked_table,
    explained_key,
    known_values,
    rows_under,
    violations,
)
from memflow.checks.rules import (
    AcceptedValues,
    Between,
    EachRow,
    Expectation,
    Findings,
    MinimumRows,
    Severity,
    Unique,
    WholeTable,
)
from memflow.records import KEYS, columns
from resources.deferred_imports import deferred_imports, hidden_modules

SUITES = ("raw.records", "score.leaderboard")
"""The tables that a suite of Great Expectations validates in every run: what enters, and what leaves."""
UNUSED = ("scipy.stats", "altair")
"""Libraries that Great Expectations imports for expectations on distributions; half of its memory and import time."""
CLOUDS = ("boto3", "botocore", "google.api_core", "google.auth", "google.cloud", "google.oauth2")
"""Optional libraries that Great Expectations imports if they are installed, to store results in clouds: 31 MB."""

_VALIDATING = Lock()


@dataclass(frozen=True)
class Suite:
    """A suite of expectations of Great Expectations, and the data frame to validate."""

    table: str
    rows: Sequence[Any]
    frame: dict[str, list[Any]]
    tests: list[Any]
    rules: list[Expectation] = field(default_factory=list)
    """The rule behind each test; empty for a suite that is declared in Great Expectations' terms."""
    findings: dict[str, Findings] = field(default_factory=dict)
    """The explained violations of the rules that memflow evaluates, by rule."""


def load() -> None:
    """Import Great Expectations before its first use, for a thread that has nothing else to do."""
    _gx()


def validate_suite(table: str, rows: Sequence[Any]) -> list[RuleResult]:
    """Validate the declared suite of a table in SUITES. Return one result per expectation."""
    frame = {column.name: [getattr(row, column.name) for row in rows] for column in columns(table)}
    suite = Suite(table, rows, frame, list(_declared(table)))
    return [_result(suite, found) for found in _validate(suite)]


def validate_rows(
    table: str,
    rows: Sequence[Any],
    expectations: Sequence[Expectation],
    other: OtherRows,
    domain: Domain | None = None,
    other_columns: OtherColumns | None = None,
) -> list[RuleResult]:
    """Evaluate rules on rows with Great Expectations. Return results of the same form as check_rows."""
    found: dict[str, RuleResult] = {}
    for each in suites_of(table, rows, expectations, other, domain, other_columns):
        if isinstance(each, RuleResult):
            found[each.name] = each
            continue
        for rule, result in zip(each.rules, _validate(each), strict=True):
            found[rule.name] = _result(each, result, rule)
    return [found[each.name] for each in applicable(expectations, domain)]


def suites_of(
    table: str,
    rows: Sequence[Any],
    expectations: Sequence[Expectation],
    other: OtherRows,
    domain: Domain | None = None,
    other_columns: OtherColumns | None = None,
) -> Iterator[Suite | RuleResult]:
    """Yield the rules that apply to `domain`, translated into suites of Great Expectations.

    One suite covers the table's own rows; each rule on the rows of another table has a separate suite. A rule that
    raises an exception is yielded as a failed result.
    """

    def rows_of(name: str) -> Sequence[Any]:
        return rows if name == table else other(name)

    known = known_values(table, rows_of, other_columns)
    own = Suite(table, rows, {}, [])
    for rule in applicable(expectations, domain):
        try:
            counted = rows_under(rule, rows_of)
            column = None if _is_native(rule) else violations(rule, counted, rows_of, known)
        except RuleError:
            yield from check_rows(table, rows, [rule], other, domain, other_columns)
            continue
        suite = own if checked_table(rule) == table else Suite(checked_table(rule), counted, {}, [])
        if column is None:
            for name in getattr(rule.rule, "columns", None) or (getattr(rule.rule, "column", None),):
                if name is not None:
                    suite.frame[name] = [getattr(row, name) for row in counted]
        else:
            suite.frame[rule.name] = [at not in column for at in range(len(counted))]
            suite.findings[rule.name] = column
        suite.tests.append(_translated(rule))
        suite.rules.append(rule)
        if suite is not own:
            yield suite
    if own.tests:
        yield own


def write_data_docs(folder: Path, suites: Sequence[tuple[str, Suite]]) -> Path:
    """Validate named suites and write Great Expectations' data docs below `folder`.

    Return the path of the first page.
    """
    gx = _gx()
    import pandas as pd

    with _VALIDATING:
        context = _silent(gx.get_context(mode="file", project_root_dir=str(folder)))
        frames = context.data_sources.add_or_update_pandas("memflow").add_dataframe_asset("rows")
        batches = frames.add_batch_definition_whole_dataframe("partition")
        for title, suite in suites:
            name = title.replace("/", ",").replace(".", "_")  # a dot or a slash would be a folder
            declared = context.suites.add_or_update(gx.ExpectationSuite(name=name, expectations=suite.tests))
            definition = gx.ValidationDefinition(name=name, data=batches, suite=declared)
            definition = context.validation_definitions.add_or_update(definition)
            checkpoint = gx.Checkpoint(name=name, validation_definitions=[definition])
            checkpoint = context.checkpoints.add_or_update(checkpoint)
            frame = pd.DataFrame(suite.frame, index=range(len(suite.rows)))
            checkpoint.run(batch_parameters={"dataframe": frame})
        pages = context.build_data_docs()
    return Path(str(next(iter(pages.values()))).removeprefix("file://"))


def _declared(table: str) -> Iterator[Any]:
    """Yield the expectations that SUITES declares for a table."""
    _gx()
    import great_expectations.expectations as gxe
    from great_expectations.expectations.metadata_types import FailureSeverity

    yield gxe.ExpectTableColumnsToMatchSet(
        column_set=[column.name for column in columns(table)], exact_match=True
    )
    yield gxe.ExpectTableRowCountToBeBetween(min_value=1)
    yield gxe.ExpectCompoundColumnsToBeUnique(column_list=list(KEYS[table]))
    for column in columns(table):
        if not column.nullable:
            yield gxe.ExpectColumnValuesToNotBeNull(column=column.name)
    if table == "raw.records":
        yield gxe.ExpectColumnValuesToBeJsonParseable(column="content")
        yield gxe.ExpectColumnValuesToMatchRegex(column="sha256", regex="^[0-9a-f]{64}$")
        yield gxe.ExpectColumnValuesToBeBetween(column="position", min_value=0)
    else:
        yield gxe.ExpectColumnValuesToBeBetween(column="coverage", min_value=0, max_value=1)
        yield gxe.ExpectColumnValuesToBeBetween(column="n", min_value=0)
        for above, below in (("value", "low"), ("high", "value")):
            yield gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A=above,
                column_B=below,
                or_equal=True,
                ignore_row_if="either_value_is_missing",
                severity=FailureSeverity.WARNING,
            )


def _is_native(rule: Expectation) -> bool:
    return isinstance(rule.rule, Unique | AcceptedValues | Between | MinimumRows)


def _translated(expectation: Expectation) -> Any:
    """Return the expectation that is equivalent to a rule, on the columns that `suites_of` adds to the data frame."""
    _gx()
    import great_expectations.expectations as gxe

    more: dict[str, Any] = {
        "severity": "warning" if expectation.severity == "warn" else "critical",
        "notes": expectation.description,
        "meta": {"rule": expectation.name},
    }
    match expectation.rule:
        case Unique((column,)):
            return gxe.ExpectColumnValuesToBeUnique(column=column, **more)
        case Unique(several):
            return gxe.ExpectCompoundColumnsToBeUnique(column_list=list(several), **more)
        case AcceptedValues(column, values):
            return gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(values), **more)
        case Between(column, low, high):
            return gxe.ExpectColumnValuesToBeBetween(column=column, min_value=low, max_value=high, **more)
        case MinimumRows(at_least):
            return gxe.ExpectTableRowCountToBeBetween(min_value=at_least, **more)
        case rule:
            mostly = 1 - rule.tolerance if isinstance(rule, EachRow | WholeTable) else 1
            return gxe.ExpectColumnValuesToBeInSet(
                column=expectation.name, value_set=[True], mostly=mostly, **more
            )


def _validate(suite: Suite) -> list[Any]:
    gx = _gx()
    import pandas as pd

    with _VALIDATING:
        batch = _batches().get_batch(
            batch_parameters={"dataframe": pd.DataFrame(suite.frame, index=range(len(suite.rows)))}
        )
        # Results come back in another order than the expectations: each names the place of its own.
        for at, test in enumerate(suite.tests):
            test.meta = {**(test.meta or {}), "place": at}
        found = batch.validate(
            gx.ExpectationSuite(name="memflow", expectations=suite.tests), result_format="SUMMARY"
        ).results
    return sorted(found, key=lambda result: int(result.expectation_config.meta["place"]))


def _result(suite: Suite, result: Any, expectation: Expectation | None = None) -> RuleResult:
    config = result.expectation_config
    name = expectation.name if expectation else _name(config)
    error = next(_raised(result.exception_info or {}), None)
    if error is not None:
        error = f"Great Expectations could not evaluate {name} of {suite.table}: {error}"
    counted = result.result or {}
    at = sorted(set(counted.get("partial_unexpected_index_list") or ()))
    failed = not result.success
    findings = suite.findings.get(name, Findings())
    is_warning = getattr(config.severity, "value", config.severity) == "warning"
    severity: Severity = expectation.severity if expectation else "warn" if is_warning else "error"
    return RuleResult(
        table=suite.table,
        name=name,
        passed=bool(result.success) and error is None,
        severity=expectation.severity if expectation else severity,
        unexpected=int(counted.get("unexpected_count", failed)),
        total=len(suite.rows),
        offending=tuple(
            explained_key(suite.table, suite.rows[position], findings.get(position, ""))
            for position in at[:OFFENDING_KEYS]
        ),
        description=expectation.description if expectation else name.replace("_", " ").capitalize(),
        error=error,
        note=findings.note,
    )


def _name(config: Any) -> str:
    """Return an expectation's type and its columns as text: `expect_column_values_to_not_be_null content`."""
    named = [config.kwargs[key] for key in ("column", "column_A", "column_B") if key in config.kwargs]
    return " ".join([config.type, *named])


def _raised(info: dict[str, Any]) -> Iterator[str]:
    """Yield the messages of the exceptions in a validation result, which may have a message per metric."""
    for each in (info, *(value for value in info.values() if isinstance(value, dict))):
        if each.get("raised_exception"):
            yield str(each.get("exception_message"))


@cache
def _batches() -> Any:
    """Return a function that converts a data frame to a batch, in one in-memory context per process."""
    gx = _gx()
    context = _silent(gx.get_context(mode="ephemeral"))
    frames = context.data_sources.add_pandas("memflow").add_dataframe_asset("rows")
    return frames.add_batch_definition_whole_dataframe("partition")


def _silent(context: Any) -> Any:
    """Return the context with progress bars disabled, because they would overlap memflow's own."""
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


@cache
def _gx() -> Any:
    """Import Great Expectations without its output and usage statistics. Return the module."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read when it is imported
    with deferred_imports(*UNUSED), hidden_modules(*CLOUDS):
        import great_expectations as gx
    gc.collect()
    gc.freeze()  # full collections of garbage skip its many objects
    return gx
