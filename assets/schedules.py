"""Schedules: what is looked at by the clock. What happens then, automation.py says."""

import dagster as dg

from assets.jobs import OBSERVE


def build() -> list[dg.ScheduleDefinition]:
    """The schedules, all stopped until a person starts them."""
    return [
        dg.ScheduleDefinition(
            name="observe_models_daily",
            job_name=OBSERVE,
            cron_schedule="0 6 * * *",
            description="Looks at simulator, judge and assistants. Where a fingerprint has changed, the sensor "
            "`regenerate` asks for what depends on it.",
        )
    ]
