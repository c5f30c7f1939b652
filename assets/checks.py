"""Asset checks: one per table and severity, over the rules of memflow.checks.expectations.

A check's metadata is a table of its rules with counts and offending keys. A failed check `blocking_rules` stops the
steps downstream of the table; failed `fault_rules` (an error) and `warning_rules` stop nothing. Great Expectations
validates separate suites on the input and output of the pipeline. memflow/checks/evaluation.py evaluates the rules.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import chain

import dagster as dg

from assets.partitions import Partitions, parts
from assets.report import rule_table
from memflow.checks.evaluation import RuleResult, combine
from memflow.checks.expectations import expectations_of
from memflow.checks.rules import Severity
from memflow.errors import MissingData
from memflow.pipeline import STEPS, WRITERS, Step, partition_key, steps_of
from memflow.scoring.drift_summary import last_drifts, markdown
from resources.lake.facts import RUN
from resources.lake.lake import Lake
from resources.process import release_after_growth
from resources.settings.settings import Settings
from resources.validation.checks import Scope, check_partition
from resources.validation.gx import SUITES, validate_suite

BLOCKING, FAULT, WARNING = "blocking_rules", "fault_rules", "warning_rules"
SUITE = "great_expectations_suite"
CHECKS: dict[str, Severity] = {BLOCKING: "error", FAULT: "fault", WARNING: "warn"}
"""The checks of a table, and the severity of their rules."""
PUBLISHING_S, PAUSE_S = 30.0, 0.5
"""Seconds to wait for another run that has published the leaderboard only, and between two looks at it."""


def check_steps() -> dict[str, tuple[str, ...]]:
    """Return the tables that each step of checks evaluates, by the name of the step.

    The tables of one pipeline step are checked together. Pipeline steps with the same partitions share a step of checks
    if no later one of them reads their tables.
    """
    groups: dict[str, list[Step]] = {}
    for step in STEPS:
        read = {table for other in steps_of(step.scope) for table in other.inputs}
        groups.setdefault(step.name if read & set(step.writes) else step.scope, []).append(step)
    return {
        "_and_".join(step.name for step in steps): tuple(table for step in steps for table in step.writes)
        for steps in groups.values()
    }


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetChecksDefinition]:
    """Return the steps of asset checks as Dagster definitions."""
    return [_step(name, tables, partitions, settings) for name, tables in check_steps().items()]


def _step(
    name: str, tables: tuple[str, ...], partitions: Partitions, settings: Settings
) -> dg.AssetChecksDefinition:
    shape = partitions.of_scope(WRITERS[tables[0]].scope)

    @dg.multi_asset_check(
        name=f"{name}_checks",
        specs=[spec for table in tables for spec in _specs(table, shape)],
        can_subset=True,
    )
    def checks(
        context: dg.AssetCheckExecutionContext,
        lake: dg.ResourceParam[Lake],
    ) -> Iterator[dg.AssetCheckResult]:
        wanted = {(key.asset_key, key.name) for key in context.selected_asset_check_keys}
        for table in tables:
            for result in _results(context, table, lake, settings):
                if (result.asset_key, result.check_name) in wanted:
                    yield result
        release_after_growth()

    return checks


def _results(
    context: dg.AssetCheckExecutionContext, table: str, lake: Lake, settings: Settings
) -> Iterator[dg.AssetCheckResult]:
    """Yield the results of every check of a table for the partition of a Dagster run, or for all partitions.

    The UI's button that executes only checks launches a run without a partition.
    """
    partitions = [partition_key(*parts(context))] if context.has_partition_key else lake.partitions(table)
    if not partitions:
        raise MissingData(
            f"{table} is missing from the lake ({lake.root}). Materialize the asset "
            f"{table.replace('.', '/')} first."
        )
    results = combine(
        result for partition in partitions for result in _evaluated(table, partition, lake, settings)
    )
    where = partitions[0] if len(partitions) == 1 else f"{len(partitions)} partitions"
    for name, severity in _checks_of(table).items():
        yield _result(table, name, where, [each for each in results if each.severity == severity], lake)
    if table in SUITES:
        suite = (validate_suite(table, lake.read(table, partition)) for partition in partitions)
        yield _result(table, SUITE, where, combine(chain.from_iterable(suite)), lake)


def _evaluated(table: str, partition: str, lake: Lake, settings: Settings) -> list[RuleResult]:
    """Return the results of a table's rules on a partition.

    Two hosts may publish at the same time: a published table that differs from the leaderboard of the other run is
    checked again until that run has published the table, too.
    """
    until = time.monotonic() + PUBLISHING_S
    while True:
        runs = _publishing_runs(table, partition, lake)
        found = check_partition(table, partition, lake, Scope.of(table, partition, settings))
        passed = all(each.passed for each in found)
        if passed or len(runs | _publishing_runs(table, partition, lake)) < 2 or time.monotonic() > until:
            return found
        time.sleep(PAUSE_S)


def _publishing_runs(table: str, partition: str, lake: Lake) -> set[str | None]:
    """Return the runs that have written this published table and the leaderboard in the lake."""
    if WRITERS[table].scope != "all":
        return set()
    stored = [lake.facts(name, partition) for name in (table, "score.leaderboard")]
    return {facts.meta.get(RUN) for facts in stored if facts is not None}


def _result(
    table: str, name: str, partition: str, results: Sequence[RuleResult], lake: Lake
) -> dg.AssetCheckResult:
    failed = [each for each in results if not each.passed]
    is_error = name in (BLOCKING, FAULT) or any(each.severity == "error" for each in failed)
    return dg.AssetCheckResult(
        check_name=name,
        asset_key=table.split("."),
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR if is_error else dg.AssetCheckSeverity.WARN,
        metadata={
            "partition": partition,
            "rules": rule_table(results),
            "failed": len(failed),
            "evaluated": len(results),
            **(_moved_scores(lake, partition) if (table, name) == ("score.drift", WARNING) else {}),
        },
    )


def _moved_scores(lake: Lake, partition: str) -> dict[str, dg.MetadataValue]:
    """Return the scores that moved at the last change of each assistant, as metadata of the check of the drift."""
    moved = [each for each in last_drifts(lake.read("score.drift", partition)) if each.moved]
    return {"moved": dg.MetadataValue.md(markdown(moved))} if moved else {}


def _specs(table: str, shape: dg.PartitionsDefinition | None) -> Iterator[dg.AssetCheckSpec]:
    for name, severity in _checks_of(table).items():
        yield dg.AssetCheckSpec(
            name,
            asset=table.split("."),
            description=_description(table, severity),
            blocking=severity == "error",
            partitions_def=shape,
        )
    if table in SUITES:
        yield dg.AssetCheckSpec(
            SUITE,
            asset=table.split("."),
            description="A suite of Great Expectations: columns, keys, required values and ranges. A failure blocks "
            "the steps downstream.",
            blocking=True,
            partitions_def=shape,
        )


def _checks_of(table: str) -> dict[str, Severity]:
    """Return the name and severity of each check for which a table has rules."""
    severities = {each.severity for each in expectations_of(table)}
    return {name: severity for name, severity in CHECKS.items() if severity in severities}


def _description(table: str, severity: Severity) -> str:
    """Return the description of a check: the consequence of a failure, and the rules by benchmark."""
    effect = "A failure blocks the steps downstream." if severity == "error" else "A failure blocks nothing."
    rules: dict[str | None, list[str]] = {}
    for each in expectations_of(table):
        if each.severity == severity:
            rules.setdefault(each.benchmark, []).append(f"- `{each.name}`: {each.description}")
    listed = (
        "\n".join([f"**{benchmark or 'all benchmarks'}**", *lines]) for benchmark, lines in rules.items()
    )
    return "\n\n".join([effect, *listed])
