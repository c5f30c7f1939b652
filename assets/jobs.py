"""The jobs, one per scope of the pipeline and one of the report, and the schedules.

All assets of a job have the same partitions.
automation.py regenerates assets after a model has changed.
"""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from memflow.assets import report
from memflow.assets.automation import MODELS
from memflow.assets.partitions import Partitions
from memflow.pipeline import JOBS, RETRIEVAL_JOB, RETRIEVAL_ONLY, RETRIEVAL_ONLY_JOB, tables_of

ASSISTANTS = dg.AssetSelection.assets(["model", "assistants"])
OBSERVE = ("observe_simulator", "observe_assistants")
"""The jobs that observe the models: by domain, and by assistant."""


def build() -> list[Any]:
    """Return the Dagster jobs in pipeline order."""
    assets = dg.AssetSelection.assets
    jobs = [
        *(
            (name, assets(*(table.split(".") for table in tables_of(scope))), description)
            for scope, (name, description) in JOBS.items()
        ),
        (
            RETRIEVAL_JOB,
            assets(["score", "retrieval"]),
            "Search stored entries again: which read failures would a better search have avoided?",
        ),
        (
            RETRIEVAL_ONLY_JOB,
            assets(*(table.split(".") for table in RETRIEVAL_ONLY)),
            "Play episodes, and read the memory for each probe with evidence: retrieval without answers.",
        ),
        (report.JOB, assets(report.KEY), "Write the report of all results as static files."),
        (
            OBSERVE[0],
            MODELS - ASSISTANTS,
            "Observe the fingerprints of simulator, annotators and judge. One partition covers all.",
        ),
        (
            OBSERVE[1],
            ASSISTANTS,
            "Observe the fingerprints of the assistants. One partition covers all.",
        ),
    ]
    return [
        dg.define_asset_job(name, selection, description=description) for name, selection, description in jobs
    ]


def schedules(partitions: Partitions) -> Sequence[dg.ScheduleDefinition]:
    """Return the Dagster schedules, which are stopped by default."""
    shapes = (partitions.domain, partitions.assistant)
    return [_daily(job, shape) for job, shape in zip(OBSERVE, shapes, strict=True)]


def _daily(job: str, shape: dg.StaticPartitionsDefinition) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=f"{job}_daily",
        job_name=job,
        cron_schedule="0 6 * * *",
        description="Observes the models. Where a fingerprint has changed, the sensor `regenerate_what_changed` "
        "requests what was generated with it.",
    )
    def daily() -> dg.RunRequest:
        # One observation covers every partition, so any of them will do.
        return dg.RunRequest(partition_key=shape.get_first_partition_key())

    return daily
