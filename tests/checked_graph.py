"""A graph with one asset and several checks, whose runs write events of every kind; for tests of the event log."""

import dagster as dg
from dagster._core.execution.execute_in_process_result import ExecuteInProcessResult

PARTITIONS = tuple("abcdef")
ASSET = dg.AssetKey("table")


def build_job(checks: int) -> dg.JobDefinition:
    """Build the job. The second check fails."""
    partitions = dg.StaticPartitionsDefinition(list(PARTITIONS))
    names = [f"check_{number}" for number in range(checks)]

    @dg.asset(key=ASSET, partitions_def=partitions)
    def table(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        context.log.info("a message")
        return dg.MaterializeResult(metadata={"rows": 3}, data_version=dg.DataVersion("1"))

    @dg.multi_asset_check(
        specs=[dg.AssetCheckSpec(name, asset=ASSET, partitions_def=partitions) for name in names]
    )
    def checks_of_table():  # type: ignore[no-untyped-def]
        for number, name in enumerate(names):
            yield dg.AssetCheckResult(passed=number != 1, check_name=name, asset_key=ASSET)

    definitions = dg.Definitions(
        [table],
        asset_checks=[checks_of_table],
        jobs=[dg.define_asset_job("job", dg.AssetSelection.all(), partitions_def=partitions)],
        executor=dg.in_process_executor,
    )
    return definitions.resolve_job_def("job")


def execute(job: dg.JobDefinition, instance: dg.DagsterInstance, partition: str) -> ExecuteInProcessResult:
    """Run the job for a partition, without log lines on the console."""
    result = job.execute_in_process(
        instance=instance,
        partition_key=partition,
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )
    assert result.success
    return result
