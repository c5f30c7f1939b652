"""Asset checks: one per step of the pipeline and severity, over the rules of memflow.checks.expectations.

A step's checks belong to the table that the next steps read. A check's metadata is a table of the rules of all tables
of the step, with counts and offending keys. A failed check `blocking_rules` stops the steps downstream; failed
`fault_rules` (an error) and `warning_rules` stop nothing. The blocking rules of the input and the output of the
pipeline include a suite of Great Expectations, whose page of Data Docs the metadata links to.
memflow/checks/evaluation.py evaluates the rules.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import dagster as dg

from memflow.assets.metadata import data_docs_link, rule_table
from memflow.assets.partitions import Partitions, parts
from memflow.checks.evaluation import RuleResult, combine
from memflow.checks.expectations import expectations_of
from memflow.checks.rules import Severity
from memflow.errors import MissingData
from memflow.pipeline import STEPS, Step, partition_key, steps_of
from memflow.resources.lake.lake import Lake
from memflow.resources.process import release_after_growth
from memflow.resources.settings.settings import Settings
from memflow.resources.validation.checks import Scope, check_partition
from memflow.resources.validation.gx import DATA_DOCS, SUITES, validate_suite

BLOCKING, FAULT, WARNING = "blocking_rules", "fault_rules", "warning_rules"
CHECKS: dict[str, Severity] = {BLOCKING: "error", FAULT: "fault", WARNING: "warn"}
"""The checks of a step, and the severity of their rules."""


def check_steps() -> dict[str, tuple[Step, ...]]:
    """Return the steps of the pipeline that each step of checks evaluates, by the name of the step of checks.

    Pipeline steps with the same partitions share a step of checks if no later one of them reads their tables.
    """
    groups: dict[str, list[Step]] = {}
    for step in STEPS:
        alone = step.on_request or _read_later(step)
        groups.setdefault(step.name if alone else step.scope, []).append(step)
    return {"_and_".join(step.name for step in steps): tuple(steps) for steps in groups.values()}


def checked_asset(step: Step) -> dg.AssetKey:
    """Return the asset that the checks of a step belong to: its first table that the next steps read, or its first."""
    table = next(iter(_read_later(step)), next(iter(step.writes)))
    return dg.AssetKey(table.split("."))


def _read_later(step: Step) -> list[str]:
    """Return the tables of a step that other steps with the same partitions read."""
    read = {table for other in steps_of(step.scope) for table in other.inputs}
    return [table for table in step.writes if table in read]


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetChecksDefinition]:
    """Return the steps of asset checks as Dagster definitions."""
    return [_checks(name, steps, partitions, settings) for name, steps in check_steps().items()]


def _checks(
    name: str, steps: tuple[Step, ...], partitions: Partitions, settings: Settings
) -> dg.AssetChecksDefinition:
    shape = partitions.of_scope(steps[0].scope)

    @dg.multi_asset_check(
        name=f"{name}_checks",
        specs=[spec for step in steps for spec in _specs(step, shape)],
        can_subset=True,
    )
    def checks(
        context: dg.AssetCheckExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.AssetCheckResult]:
        wanted = {(key.asset_key, key.name) for key in context.selected_asset_check_keys}
        for step in steps:
            if any(asset == checked_asset(step) for asset, _ in wanted):
                for result in _results(context, step, lake, settings):
                    if (result.asset_key, result.check_name) in wanted:
                        yield result
        release_after_growth()

    return checks


def _results(
    context: dg.AssetCheckExecutionContext, step: Step, lake: Lake, settings: Settings
) -> Iterator[dg.AssetCheckResult]:
    """Yield the results of every check of a step for the partition of a Dagster run, or for all partitions.

    The UI's button that executes only checks launches a run without a partition.
    """
    results: dict[str, list[RuleResult]] = {}
    for table in step.writes:
        partitions = [partition_key(*parts(context))] if context.has_partition_key else lake.partitions(table)
        if not partitions:
            raise MissingData(
                f"{table} is missing from the lake ({lake.root}). Materialize the asset "
                f"{table.replace('.', '/')} first."
            )
        results[table] = combine(
            result for partition in partitions for result in _evaluated(table, partition, lake, settings)
        )
    where = partitions[0] if len(partitions) == 1 else f"{len(partitions)} partitions"
    for name, severity in _checks_of(step).items():
        chosen = {
            table: [rule for rule in of_table if rule.severity == severity]
            for table, of_table in results.items()
        }
        links = _links(step, partitions, settings) if severity == "error" else {}
        yield _result(step, name, where, chosen, links)


def _evaluated(table: str, partition: str, lake: Lake, settings: Settings) -> list[RuleResult]:
    """Return the results of a table's rules on a partition, and those of its suite of Great Expectations."""
    rules = check_partition(table, partition, lake, Scope.of(table, partition, settings))
    if table in SUITES:
        rules += validate_suite(table, partition, lake.read(table, partition), settings.home / DATA_DOCS)
    return rules


def _links(step: Step, partitions: Sequence[str], settings: Settings) -> dict[str, Any]:
    """Return the pages of Data Docs of a step's tables as metadata, one for each partition."""
    links: dict[str, Any] = {}
    for table, partition in product(step.writes, partitions):
        for name, link in data_docs_link(settings.home, table, partition).items():
            links[name if len(partitions) == 1 else f"{name} of {partition}"] = link
    return links


def _result(
    step: Step,
    name: str,
    partition: str,
    results: Mapping[str, Sequence[RuleResult]],
    links: Mapping[str, Any],
) -> dg.AssetCheckResult:
    evaluated = [rule for of_table in results.values() for rule in of_table]
    failed = [rule for rule in evaluated if not rule.passed]
    is_error = name in (BLOCKING, FAULT) or any(rule.severity == "error" for rule in failed)
    return dg.AssetCheckResult(
        check_name=name,
        asset_key=checked_asset(step),
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR if is_error else dg.AssetCheckSeverity.WARN,
        metadata={
            "partition": partition,
            "rules": rule_table(results),
            "failed": len(failed),
            "evaluated": len(evaluated),
            **links,
        },
    )


def _specs(step: Step, shape: dg.PartitionsDefinition | None) -> Iterator[dg.AssetCheckSpec]:
    for name, severity in _checks_of(step).items():
        yield dg.AssetCheckSpec(
            name,
            asset=checked_asset(step),
            description=_description(step, severity),
            blocking=severity == "error",
            partitions_def=shape,
        )


def _checks_of(step: Step) -> dict[str, Severity]:
    """Return the name and severity of each check for which the tables of a step have rules."""
    severities = {rule.severity for table in step.writes for rule in expectations_of(table)}
    return {name: severity for name, severity in CHECKS.items() if severity in severities}


def _description(step: Step, severity: Severity) -> str:
    """Return the description of a check: the consequence of a failure, and the rules by table and benchmark."""
    effect = "A failure blocks the steps downstream." if severity == "error" else "A failure blocks nothing."
    rules: dict[str, list[str]] = {}
    for table in step.writes:
        for rule in expectations_of(table):
            if rule.severity == severity:
                where = f"{table}, {rule.benchmark or 'all benchmarks'}"
                rules.setdefault(where, []).append(f"- `{rule.name}`: {rule.description}")
        if table in SUITES and severity == "error":
            rules[f"{table}, Great Expectations"] = ["- columns, keys, required values and ranges"]
    return "\n\n".join([effect, *("\n".join([f"**{where}**", *lines]) for where, lines in rules.items())])
