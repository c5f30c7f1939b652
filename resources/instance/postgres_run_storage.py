"""Dagster's runs and schedules on PostgreSQL, which survive a restart of the server.

The classes are those of dagster-postgres; their calls are repeated (repeated_calls.py).
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterRunAlreadyExists
from dagster._serdes import ConfigurableClassData
from dagster_postgres.run_storage import PostgresRunStorage
from dagster_postgres.schedule_storage import PostgresScheduleStorage
from dagster_postgres.utils import get_token_provider_from_config, pg_url_from_config

from resources.instance.repeated_calls import in_repeated_call, repeat_calls


@repeat_calls
class PostgresRuns(PostgresRunStorage):
    """Dagster's run storage in PostgreSQL, whose calls wait for a server that is being restarted."""

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "PostgresRuns":
        return cls(
            pg_url_from_config(config_value),
            config_value.get("should_autocreate_tables", True),
            inst_data,
            get_token_provider_from_config(config_value),
        )

    def add_run(self, dagster_run: dg.DagsterRun) -> dg.DagsterRun:
        """Add a run. A run that a lost connection has added already is returned."""
        try:
            return super().add_run(dagster_run)
        except DagsterRunAlreadyExists:
            if not in_repeated_call():
                raise
            return dagster_run


@repeat_calls
class PostgresSchedules(PostgresScheduleStorage):
    """Dagster's schedule storage in PostgreSQL, whose calls wait for a server that is being restarted."""

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "PostgresSchedules":
        return cls(
            pg_url_from_config(config_value),
            config_value.get("should_autocreate_tables", True),
            inst_data,
            get_token_provider_from_config(config_value),
        )
