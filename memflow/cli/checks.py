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
from memflow.cli.options import AssistantFilter, DomainFilter, argument, front_of, option
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput, MemflowError
from memflow.operations.stored_names import check_names
from memflow.rendering.tables import Text, table_of
from memflow.rendering.texts import note

if TYPE_CHECKING:
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

Target = tuple[str, str]
"""A table and a partition."""
RESULTS = {
    "passed": Text("passed", "green"),
    "failed": Text("failed", "red"),
    "warning": Text("warning", "yellow"),
}


@dataclass(frozen=True)
class RuleSummary:
    """The result of one rule over all partitions of a table, and the partitions in which the rule failed."""

    total: RuleResult
    partitions: int
    failed_in: list[str]

    @property
    def state(self) -> str:
        """`passed`, `failed` (an error) or `warning`."""
        if self.total.passed:
            return "passed"
        return "warning" if self.total.severity == "warn" else "failed"

    def data(self) -> dict[str, Any]:
        """Return the summary as plain data for JSON: the fields of the total, `partitions` and `failed_in`."""
        return {**asdict(self.total), "partitions": self.partitions, "failed_in": self.failed_in}


def checks(
    ctx: typer.Context,
    of_table: Annotated[
        str | None, argument("[TABLE]", "Show every rule of one table, such as question.probes.")
    ] = None,
    domain: DomainFilter = None,
    assistant: AssistantFilter = None,
    docs: Annotated[
        Path | None,
        option(
            "--docs",
            "Validate raw.records and score.leaderboard with Great Expectations, too, and write its Data Docs"
            " here: one page for each partition, which opens without a network.",
            metavar="FOLDER",
        ),
    ] = None,
    form: FormatOption = Format.table,
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
    rules, unchecked = _summaries(lake, settings, targets, docs)
    failed, warnings = _count(rules, "failed"), _count(rules, "warning")
    checked = len(targets) - len(unchecked)
    partitions = f"{checked:,} partition{'s' * (checked != 1)}"
    total = f"\n{partitions}, {len(rules):,} rules: {failed} failed, {warnings} with warnings"
    columns = {
        "result": lambda rule: RESULTS[rule.state],
        "rule": lambda rule: rule.total.name,
        "rows": lambda rule: rule.total.total,
        "unexpected": lambda rule: rule.total.unexpected,
    }
    print_result(
        form,
        {
            "data_docs": [str(page) for page in pages],
            "rules": [rule.data() for rule in rules],
            "unchecked": unchecked,
        },
        table_of(rules, columns) if of_table else table_of(_by_table(rules)),
        *_violations(rules),
        *(Text(f"not checked: {reason}", "red") for reason in unchecked),
        note(total),
        *(note(f"Data Docs: {page}") for page in pages),
        rows=[rule.data() for rule in rules],
    )
    if unchecked or failed:
        raise typer.Exit(1)


def _targets(
    lake: "Lake", of_table: str | None, domains: Sequence[str], assistants: Sequence[str]
) -> Iterator[Target]:
    """Yield the tables and partitions to check. Raises BadInput for a name that the lake does not contain."""
    from memflow.records import TABLES

    name = (of_table or "").replace("/", ".")
    check_names("", "table", [name] if name else None, TABLES, 'memflow sql "SHOW ALL TABLES"')
    stored = [(table, *key.partition("/")[::2]) for table in TABLES for key in lake.partitions(table)]
    if not any(not name or table == name for table, _, _ in stored):
        raise BadInput(
            f"the lake ({lake.root}) contains no {name or 'tables'}. Create some with `memflow run --demo`."
        )
    check_names("the lake", "domain", domains, {domain for _, domain, _ in stored})
    check_names("the lake", "assistant", assistants, {assistant for _, _, assistant in stored} - {""})
    for table, domain, assistant in stored:
        if (
            (not name or table == name)
            and (not domains or domain in domains)
            and (not assistants or assistant in assistants)
        ):
            yield table, f"{domain}/{assistant}" if assistant else domain


def _summaries(
    lake: "Lake", settings: "Settings", targets: Sequence[Target], docs: Path | None
) -> tuple[list[RuleSummary], list[str]]:
    """Evaluate the rules of every partition. Return the results, and an error message per unchecked partition.

    With `docs`, also validate the suites of Great Expectations, and write a page for each validated partition.
    """
    from memflow.resources.validation.checks import Scope, check_partition
    from memflow.resources.validation.gx import SUITES, validate_suite

    by_rule: dict[Target, list[tuple[str, RuleResult]]] = {}
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
            by_rule.setdefault((name, result.name), []).append((partition, result))
    summaries = []
    for (name, _), results_of in by_rule.items():
        # A rule that counts the rows of another table is still one of this table's.
        [total] = combine(replace(result, table=name) for _, result in results_of)
        failed_in = [partition for partition, result in results_of if not result.passed]
        summaries.append(RuleSummary(total, len(results_of), failed_in))
    return summaries, unchecked


def _count(rules: Sequence[RuleSummary], state: str) -> int:
    return sum(rule.state == state for rule in rules)


def _by_table(rules: Sequence[RuleSummary]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of rules of each table of the lake."""
    for name in dict.fromkeys(rule.total.table for rule in rules):
        of_table = [rule for rule in rules if rule.total.table == name]
        yield {
            "table": name,
            "partitions": max(rule.partitions for rule in of_table),
            "rules": len(of_table),
            "failed": _count(of_table, "failed") or None,
            "warnings": _count(of_table, "warning") or None,
        }


def _violations(rules: Sequence[RuleSummary]) -> Iterator[RenderableType]:
    """Yield the failed rules as text, with their descriptions, partitions and the keys of some rows."""
    for summary in rules:
        if summary.failed_in:
            rule = summary.total
            head = f"{rule.table} {rule.name}: {rule.unexpected:,} of {rule.total:,} rows"
            yield Text.assemble("\n", RESULTS[summary.state], f"  {head}, in {', '.join(summary.failed_in)}")
            lines = (rule.description, rule.error, *rule.offending, rule.note)
            yield from (Text(f"  {line}") for line in lines if line)
