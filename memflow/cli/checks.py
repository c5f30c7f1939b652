"""`memflow checks`: evaluate the rules of the tables in the lake, and list the rows that violate them.

memflow/checks/rules.py defines rules; memflow/checks/evaluation.py evaluates them. With --docs, Great Expectations
validates what enters and what leaves the pipeline as well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.checks.evaluation import RuleResult, combine
from memflow.cli.front import front_of
from memflow.cli.options import AssistantFilter, DomainFilter
from memflow.cli.output import Format, FormatOption, Text, answer, note, table
from memflow.cli.stored_names import check_names
from memflow.errors import BadInput, MemflowError
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

Target = tuple[str, str]
"""A table and a partition."""


@dataclass(frozen=True)
class RuleSummary:
    """The result of one rule over all partitions of a table, and the partitions in which the rule failed."""

    total: RuleResult
    partitions: int
    failed_in: list[str]

    @property
    def is_error(self) -> bool:
        """Whether a failure of the rule is an error, and not a warning."""
        return self.total.severity != "warn"

    @property
    def result(self) -> Text:
        """The rule's result: `passed`, `failed` (an error) or `warning`."""
        if self.total.passed:
            return Text("passed", "green")
        return Text("failed", "red") if self.is_error else Text("warning", "yellow")

    def data(self) -> dict[str, Any]:
        """Return the summary as plain data for JSON."""
        return {**asdict(self.total), "partitions": self.partitions, "failed_in": self.failed_in}


def checks(
    ctx: typer.Context,
    of_table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="Show every rule of one table, such as question.probes."),
    ] = None,
    domain: DomainFilter = None,
    assistant: AssistantFilter = None,
    docs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Validate raw.records and score.leaderboard with Great Expectations, too, and write its Data Docs"
            " here: one page for each partition, which opens without a network.",
        ),
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Evaluate the rules of the tables in the lake; show the results and the rows that violate them.

    The exit code is 1 if a rule failed whose failure is an error, or if a partition could not be checked.
    """
    from memflow.resources.lake.lake import Lake
    from memflow.resources.validation.gx import SUITES, page_path

    settings = front_of(ctx).load()
    lake = Lake(settings.lake_root)
    targets = list(_targets(lake, of_table, domain or (), assistant or ()))
    pages = [] if docs is None else [page_path(docs, *target) for target in targets if target[0] in SUITES]
    if docs is not None and not pages:
        raise BadInput(
            f"--docs writes pages on {' and '.join(SUITES)} only, and none of their partitions is selected. Leave out "
            "the table, --domain and --assistant, or leave out --docs."
        )
    found, unchecked = _summaries(lake, settings, targets, docs)
    answer(
        form,
        {
            "data_docs": [str(page) for page in pages],
            "rules": [each.data() for each in found],
            "unchecked": unchecked,
        },
        _rules(found) if of_table else _by_table(found),
        *_violations(found),
        *(Text(f"not checked: {each}", "red") for each in unchecked),
        note(_total(found, len(targets) - len(unchecked))),
        *(note(f"Data Docs: {page}") for page in pages),
    )
    if unchecked or any(each.failed_in and each.is_error for each in found):
        raise typer.Exit(1)


def _targets(
    lake: "Lake", of_table: str | None, domains: Sequence[str], assistants: Sequence[str]
) -> Iterator[Target]:
    """Yield the tables and partitions to check. Raises BadInput for a name that the lake does not contain."""
    from memflow.records import TABLES

    name = (of_table or "").replace("/", ".")
    if name and name not in TABLES:
        raise BadInput(unknown_name("table", name, TABLES, 'memflow sql "SHOW ALL TABLES"'))
    stored = [(each, partition) for each in TABLES for partition in lake.partitions(each)]
    if not any(not name or each == name for each, _ in stored):
        raise BadInput(
            f"the lake ({lake.root}) contains no {name or 'tables'}. Create some with `memflow run --demo`."
        )
    parts = [partition.partition("/")[::2] for _, partition in stored]
    check_names("the lake", "domain", domains, {of_domain for of_domain, _ in parts})
    check_names("the lake", "assistant", assistants, {of_assistant for _, of_assistant in parts} - {""})
    for (each, partition), (of_domain, of_assistant) in zip(stored, parts, strict=True):
        if (
            (not name or each == name)
            and (not domains or of_domain in domains)
            and (not assistants or of_assistant in assistants)
        ):
            yield each, partition


def _summaries(
    lake: "Lake", settings: "Settings", targets: Sequence[Target], docs: Path | None
) -> tuple[list[RuleSummary], list[str]]:
    """Evaluate the rules of every partition. Return the results, and an error message per unchecked partition.

    With `docs`, also validate the suites of Great Expectations, and write a page for each validated partition.
    """
    from memflow.resources.validation.checks import Scope, check_partition
    from memflow.resources.validation.gx import SUITES, validate_suite

    found: dict[Target, list[tuple[str, RuleResult]]] = {}
    unchecked: list[str] = []
    for name, partition in targets:
        try:
            results = check_partition(name, partition, lake, Scope.of(name, partition, settings))
            if docs is not None and name in SUITES:
                results += validate_suite(name, partition, lake.read(name, partition), docs)
        except MemflowError as wrong:
            unchecked.append(f"{name} of {partition}: {wrong}")
            continue
        for result in results:
            found.setdefault((name, result.name), []).append((partition, result))
    return [_summary(name, of_rule) for (name, _), of_rule in found.items()], unchecked


def _summary(name: str, of_rule: Sequence[tuple[str, RuleResult]]) -> RuleSummary:
    # A rule that counts the rows of another table is still one of this table's.
    [total] = combine(replace(result, table=name) for _, result in of_rule)
    return RuleSummary(total, len(of_rule), [partition for partition, result in of_rule if not result.passed])


def _by_table(found: Sequence[RuleSummary]) -> RenderableType:
    """Return the results as text to print, with one line for each table of the lake."""
    rows = []
    for name in dict.fromkeys(each.total.table for each in found):
        of_table = [each for each in found if each.total.table == name]
        failed = sum(bool(each.failed_in) for each in of_table if each.is_error)
        warnings = sum(bool(each.failed_in) for each in of_table if not each.is_error)
        partitions = max(each.partitions for each in of_table)
        rows.append((name, partitions, len(of_table), failed or None, warnings or None))
    columns = ("table", "partitions", "rules", "failed", "warnings")
    return table("", columns, rows, right=columns[1:])


def _rules(found: Sequence[RuleSummary]) -> RenderableType:
    """Return a printable table of results with one line for each rule."""
    rows = [(each.result, each.total.name, each.total.total, each.total.unexpected) for each in found]
    return table("", ("result", "rule", "rows", "unexpected"), rows, right=("rows", "unexpected"))


def _violations(found: Sequence[RuleSummary]) -> Iterator[RenderableType]:
    """Return the failed rules as text, with their descriptions, partitions and the keys of some rows."""
    for each in found:
        if each.failed_in:
            rule = each.total
            head = f"{rule.table} {rule.name}: {rule.unexpected:,} of {rule.total:,} rows"
            yield Text.assemble("\n", each.result, f"  {head}, in {', '.join(each.failed_in)}")
            for line in (
                rule.description,
                *([rule.error] if rule.error else ()),
                *rule.offending,
                *([rule.note] if rule.note else ()),
            ):
                yield Text(f"  {line}")


def _total(found: Sequence[RuleSummary], partitions: int) -> str:
    failed = sum(bool(each.failed_in) for each in found if each.is_error)
    warnings = sum(bool(each.failed_in) for each in found if not each.is_error)
    of = f"{partitions:,} partition" if partitions == 1 else f"{partitions:,} partitions"
    return f"\n{of}, {len(found):,} rules: {failed} failed, {warnings} with warnings"
