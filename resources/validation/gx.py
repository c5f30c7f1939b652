"""Great Expectations: validates what enters the pipeline and what leaves it, and renders its Data Docs.

SUITES names the two tables; assets/checks.py validates them in every run. memflow/checks/evaluation.py evaluates the
rules of all tables, these two included.

Importing Great Expectations takes seconds and 80 MB, so it is imported on first use, once per process, without the
modules that its two suites do not need (UNUSED). Great Expectations is not thread-safe: the validations of a
process run one after another.
"""

import gc
import os
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path
from threading import Lock
from typing import Any

from memflow.checks.evaluation import OFFENDING_KEYS, RuleResult, explained_key
from memflow.records import KEYS, columns
from memflow.resources.deferred_imports import deferred_imports
from memflow.resources.files.local_files import replace_file, stem_of

SUITES = ("raw.records", "score.leaderboard")
"""The tables that a suite of Great Expectations validates in every run: what enters, and what leaves."""
UNUSED = ("scipy.stats", "altair", "great_expectations.compatibility.google")
"""Modules that Great Expectations imports for expectations on distributions and for Google's cloud: more than half of
its memory, and half of its import time."""
DATA_DOCS = "data_docs"
"""The folder of the pages in the home folder."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser loads for a page: nothing but the style in it. Great Expectations' own style is on the network."""

_VALIDATING = Lock()


def page_path(folder: Path, table: str, partition: str) -> Path:
    """Return the path of the page of Data Docs about a partition of a table, which may not exist."""
    return folder / f"{table}.{stem_of(partition)}.html"


def validate_suite(table: str, partition: str, rows: Sequence[Any], folder: Path) -> list[RuleResult]:
    """Validate the suite of a table in SUITES on the rows of a partition, and write its page of Data Docs to a folder.

    The page is one file without scripts, which a browser shows without a network. Return one result per expectation.
    """
    gx = _gx()
    import pandas as pd

    frame = {column.name: [getattr(row, column.name) for row in rows] for column in columns(table)}
    with _VALIDATING:
        batch = _batches().get_batch(batch_parameters={"dataframe": pd.DataFrame(frame)})
        suite = gx.ExpectationSuite(name=f"{table} of {partition}", expectations=list(_expectations(table)))
        validation = batch.validate(suite, result_format="SUMMARY")
        results = [_result(table, rows, result) for result in validation.results]
        page = _page(validation).encode()
    replace_file(page_path(folder, table, partition), lambda file: file.write(page))
    return results


def _expectations(table: str) -> Iterator[Any]:
    """Yield the expectations that a table in SUITES has to meet."""
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


def _result(table: str, rows: Sequence[Any], result: Any) -> RuleResult:
    config = result.expectation_config
    name = _name(config)
    error = next(_raised(result.exception_info or {}), None)
    if error is not None:
        error = f"Great Expectations could not evaluate {name} of {table}: {error}"
    counts = result.result or {}
    positions = sorted(set(counts.get("partial_unexpected_index_list") or ()))
    return RuleResult(
        table=table,
        name=name,
        passed=bool(result.success) and error is None,
        severity="warn" if getattr(config.severity, "value", config.severity) == "warning" else "error",
        unexpected=int(counts.get("unexpected_count", not result.success)),
        total=len(rows),
        offending=tuple(explained_key(table, rows[at], "") for at in positions[:OFFENDING_KEYS]),
        description=name.replace("_", " ").capitalize(),
        error=error,
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


def _page(validation: Any) -> str:
    """Return the page of a validation with a style of its own, and a policy that keeps a browser off the network.

    Great Expectations shows unexpected values as HTML, so they are escaped in the validation first.
    """
    from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer
    from great_expectations.render.view import DefaultJinjaPageView

    for result in validation.results:
        result.result = _escaped(result.result)
    page: str = DefaultJinjaPageView().render(ValidationResultsPageRenderer().render(validation))
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    style = Path(__file__).with_name("data_docs.css").read_text(encoding="utf-8")
    return page.replace("<head>", f"<head>{policy}", 1).replace(
        "</head>", f"<style>{style}</style></head>", 1
    )


def _escaped(value: Any) -> Any:
    """Return a value of a validation's result in which all texts are escaped for HTML."""
    match value:
        case str():
            return escape(value)
        case dict():
            return {name: _escaped(item) for name, item in value.items()}
        case list() | tuple():
            return [_escaped(item) for item in value]
    return value


@cache
def _batches() -> Any:
    """Return a function that converts a data frame to a batch, in one in-memory context per process."""
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = _gx().get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)  # they would overlap memflow's own
    frames = context.data_sources.add_pandas("memflow").add_dataframe_asset("rows")
    return frames.add_batch_definition_whole_dataframe("partition")


@cache
def _gx() -> Any:
    """Import Great Expectations without its output and usage statistics. Return the module."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read when it is imported
    with deferred_imports(*UNUSED):
        import great_expectations as gx
    gc.freeze()  # full collections of garbage skip its many objects
    return gx
