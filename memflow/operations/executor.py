"""The executor of planned runs: each is a Dagster job on a partition, executed in this process and shown in the UI.

pipeline.py determines the order of the runs. Runs may execute in several threads.
"""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import dagster as dg

from memflow.assets.definitions import build_defs
from memflow.assets.fingerprints import Fingerprints
from memflow.assets.models import observations
from memflow.assets.partitions import pair
from memflow.operations.planned_runs import PlannedRun
from memflow.pipeline import JOBS, RETRIEVAL_JOB, RETRIEVAL_ONLY_JOB
from memflow.resources.configurable import open_resources
from memflow.resources.files.disks import require_writable
from memflow.resources.instance.instance import OpenInstance, open_instance, require_own_runs
from memflow.resources.models.chats import Watch
from memflow.resources.models.models import Models
from memflow.resources.settings.settings import Settings

QUIET = {"console": {"config": {"log_level": "CRITICAL"}}}


@dataclass
class Executor:
    """Executes planned runs with one client for each model and one ledger."""

    settings: Settings
    fingerprints: Fingerprints
    models: Models
    opened: OpenInstance
    jobs: dict[str, dg.JobDefinition]

    def run(self, run: PlannedRun, job: str = "") -> tuple[str, str]:
        """Execute a planned run, with the job of its scope or another one.

        Return the id of its Dagster run, and the reason of a failure or an empty string.
        """
        result = self.jobs[job or run.job].execute_in_process(
            asset_selection=[dg.AssetKey(table.split(".")) for table in run.tables]
            if run.retrieval_only
            else None,
            partition_key=pair(run.domain, run.assistant) if run.assistant else run.partition,
            instance=self.opened.instance,
            run_config={"loggers": QUIET},
            tags=self.opened.tags,
            raise_on_error=False,
        )
        self.models.end_run(result.run_id)
        return result.run_id, "" if result.success else _reason(result)

    def record_models(self, domains: Iterable[str], assistants: Iterable[str]) -> None:
        """Report the models of these domains and assistants as observed, unless their last observation is the same."""
        instance = self.opened.instance
        for event in observations(self.settings, self.fingerprints, domains, assistants):
            of_partition = dg.AssetRecordsFilter(event.asset_key, asset_partitions=[str(event.partition)])
            last = instance.fetch_observations(of_partition, limit=1).records
            if not last or last[0].event_log_entry.tags != event.tags:
                instance.report_runless_asset_event(event)


@contextmanager
def open_executor(
    settings: Settings, fingerprints: Fingerprints, watch: Watch, budget: Any
) -> Iterator[Executor]:
    """Open the Dagster instance and the resources, for all runs of this process."""
    require_writable(*settings.written_folders)
    with (
        open_instance(settings.home) as opened,
        open_resources(settings, fingerprints.lake, opened.instance) as resources,
    ):
        require_own_runs(opened.instance)
        models = resources["models"]
        models.watch = watch
        models.budget = budget or models.budget
        definitions = build_defs(settings, resources, fingerprints)
        names = (*dict(JOBS.values()), RETRIEVAL_JOB, RETRIEVAL_ONLY_JOB)
        jobs = {name: definitions.resolve_job_def(name) for name in names}
        # What is imported by now stays: without it, full collections are cheap, and Python starts them in time.
        gc.freeze()
        yield Executor(settings, fingerprints, models, opened, jobs)


def _reason(result: dg.ExecuteInProcessResult) -> str:
    """Return the reason of a failed run: failed blocking checks with their rows, or the exception of a step."""
    broken = [
        reason
        for check in result.get_asset_check_evaluations()
        if not check.passed and check.blocking and check.severity is dg.AssetCheckSeverity.ERROR
        for reason in _broken(check)
    ]
    if broken:
        return "; ".join(broken)
    for event in result.all_events:
        if event.is_step_failure and event.step_failure_data.error is not None:
            failure, error = event.step_failure_data.user_failure_data, event.step_failure_data.error
            reason = failure.description if failure else (error.cause or error).message.strip()
            return f"{event.step_key}: {reason}"
    return "the run failed. See the page of the run in the UI."


def _broken(check: dg.AssetCheckEvaluation) -> Iterator[str]:
    """Yield a sentence for each failed rule: its table, the number of offending rows, and the keys of some of them."""
    rules = check.metadata["rules"]
    for rule in (record.data for record in rules.records) if isinstance(rules, dg.TableMetadataValue) else ():
        if rule["result"] == "passed":
            continue
        table = str(rule["table"]).replace(".", "/")
        if rule["result"] == "error":
            yield f"{table}: {rule['offending']}"
            continue
        found = (
            f"fails on {rule['unexpected']} of {rule['rows']} rows"
            if rule["rows"]
            else "fails: the table is empty"
        )
        where = f" ({rule['offending']})" if rule["offending"] else ""
        yield f"{table}: the rule {rule['rule']} {found}{where}"
