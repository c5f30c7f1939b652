"""Dagster runs in an instance of memflow, in the states that a killed `memflow dev` leaves."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
from dagster._core.remote_origin import GrpcServerCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin
from dagster._core.test_utils import create_run_for_test

LOCAL = GrpcServerCodeLocationOrigin("localhost", socket="/tmp/folder/code", location_name="memflow")
SERVED = GrpcServerCodeLocationOrigin("code", port=4000, location_name="memflow")
POOL = "endpoint"


def origin(location: Any) -> RemoteJobOrigin:
    return RemoteJobOrigin(RemoteRepositoryOrigin(location, "__repository__"), "job")


def add_run(
    instance: dg.DagsterInstance,
    status: dg.DagsterRunStatus,
    tags: Mapping[str, str] | None = None,
    location: Any = LOCAL,
) -> dg.DagsterRun:
    """Add a run that the daemon created for a code location, or None for a run of this process."""
    return create_run_for_test(
        instance,
        "job",
        status=status,
        tags=dict(tags or {}),
        remote_job_origin=origin(location) if location else None,
    )


def claim_slot(instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
    instance.event_log_storage.initialize_concurrency_limit_to_default(POOL)
    assert instance.event_log_storage.claim_concurrency_slot(POOL, run.run_id, "step").is_claimed


def claimed_runs(instance: dg.DagsterInstance) -> set[str]:
    return set(instance.event_log_storage.get_concurrency_info(POOL).active_run_ids)


def status_of(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRunStatus:
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    return found.status
