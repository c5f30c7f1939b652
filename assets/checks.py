"""Checks: one step per table, over memflow.expectations, through Great Expectations.

What must hold is data in memflow/expectations; how it is tested is resources/expectations.py. A check that blocks
stops the steps that would build on the partition.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import dagster as dg

from assets.partitions import Partitions, parts, place
from assets.recipes import BY_ASSISTANT, BY_DOMAIN
from memflow.expectations import EXPECTATIONS, Expectation
from resources.expectations import Outcome, check
from resources.settings import Settings
from resources.warehouse import Warehouse


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetChecksDefinition]:
    """A step of checks for every table that has expectations."""
    by_table: dict[str, list[Expectation]] = defaultdict(list)
    for expectation in EXPECTATIONS:
        by_table[expectation.table].append(expectation)
    return [_checks(table, expectations, partitions, settings) for table, expectations in by_table.items()]


def _checks(
    table: str, expectations: Sequence[Expectation], partitions: Partitions, settings: Settings
) -> dg.AssetChecksDefinition:
    shape = _shape(table, partitions)
    key = table.split(".")

    @dg.multi_asset_check(
        name=f"{table.replace('.', '_')}_checks",
        specs=[
            dg.AssetCheckSpec(
                expectation.name,
                asset=key,
                description=expectation.description,
                blocking=expectation.severity == "error",
                partitions_def=shape,
            )
            for expectation in expectations
        ],
    )
    def checks(
        context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
    ) -> Iterator[dg.AssetCheckResult]:
        where = _partition(context, table)
        domain = settings.domain(parts(context)[0]) if table in (*BY_DOMAIN, *BY_ASSISTANT) else None
        for outcome in check(table, where, warehouse, domain):
            yield _result(key, outcome, where)

    return checks


def _shape(table: str, partitions: Partitions) -> dg.PartitionsDefinition | None:
    if table == "raw.records":
        return partitions.dataset
    if table in BY_DOMAIN:
        return partitions.domain
    return partitions.domain_assistant if table in BY_ASSISTANT else None


def _partition(context: dg.AssetCheckExecutionContext, table: str) -> str:
    return place(*parts(context)) if context.has_partition_key else "all"


def _result(key: list[str], outcome: Outcome, where: str) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=outcome.name,
        asset_key=key,
        passed=outcome.passed,
        severity=dg.AssetCheckSeverity.ERROR if outcome.severity == "error" else dg.AssetCheckSeverity.WARN,
        metadata={
            "partition": where,
            "rows": outcome.total,
            "unexpected": outcome.unexpected,
            "offending": dg.MetadataValue.json(list(outcome.offending)),
        },
    )
