"""A graph with one asset and many checks, which writes many events; the tests of the event log run it.

    python -m checked_graph FOLDER PARTITION...

runs it for the named partitions on the instance of a folder, and prints a line for each run.
"""

import os
import sys
import time
import warnings
from pathlib import Path

import dagster as dg
from dagster._core.execution.execute_in_process_result import ExecuteInProcessResult

PARTITIONS = tuple("abcdef")
ASSET = dg.AssetKey("table")
EVENTS_PER_CHECK = 3
"""A planned event, the output of the check's step, the evaluation."""


def check_names(checks: int) -> list[str]:
    """Return the names of the checks."""
    return [f"check_{number}" for number in range(checks)]


def build_job(checks: int, pause_s: float = 0.0) -> dg.JobDefinition:
    """Build the job; its asset takes `pause_s` seconds."""
    partitions = dg.StaticPartitionsDefinition(list(PARTITIONS))
    names = check_names(checks)

    @dg.asset(key=ASSET, partitions_def=partitions)
    def table(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        context.log.info("a message")
        time.sleep(pause_s)
        return dg.MaterializeResult(metadata={"rows": 3}, data_version=dg.DataVersion("1"))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # partitioned checks are in preview

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


def main(folder: Path, partitions: list[str]) -> None:
    """Run the partitions; the variables CHECKS and PAUSE_S give the number of checks and the asset's seconds."""
    job = build_job(int(os.environ.get("CHECKS", "20")), float(os.environ.get("PAUSE_S", "0")))
    out = os.fdopen(os.dup(1), "w", buffering=1)  # Dagster captures what is printed during a run
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        out.write("ready\n")
        for partition in partitions:
            out.write(f"{execute(job, instance, partition).run_id}\n")
        if os.environ.get("STAY"):
            sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
