"""Schedules: what is looked at by the clock. What happens then, automation.py says."""

from collections.abc import Sequence

import dagster as dg

from assets.jobs import OBSERVE
from assets.partitions import Partitions


def build(partitions: Partitions) -> Sequence[dg.ScheduleDefinition]:
    """The schedules, stopped until a person starts them."""
    shapes = (partitions.domain, partitions.assistant)
    return [_daily(job, shape) for job, shape in zip(OBSERVE, shapes, strict=True)]


def _daily(job: str, shape: dg.StaticPartitionsDefinition) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=f"{job}_daily",
        job_name=job,
        cron_schedule="0 6 * * *",
        description="Looks at the models. Where a fingerprint has changed, the sensor `regenerate_what_changed` "
        "asks for what was made with it.",
    )
    def daily() -> dg.RunRequest:
        # One observation covers every partition, so any of them will do.
        return dg.RunRequest(partition_key=shape.get_first_partition_key())

    return daily
