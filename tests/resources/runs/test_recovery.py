"""Runs of a killed daemon return to the queue, and no run of a living process or another host does."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from leased_process import leased_process
from leased_runs import SERVED, add_run, claim_slot, claimed_runs, status_of

from resources.instance.instance import dagster_home, open_instance, recover_runs
from resources.runs.leases import acquire, lease_folder_id, run_lease
from resources.runs.process_locks import has_stale_locks
from resources.runs.recovery import LEASE, PROCESS, requeue, requeue_runs

CANCELED, CANCELING, NOT_STARTED, QUEUED, STARTED, STARTING, SUCCESS = (
    dg.DagsterRunStatus[name]
    for name in ("CANCELED", "CANCELING", "NOT_STARTED", "QUEUED", "STARTED", "STARTING", "SUCCESS")
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return dagster_home(tmp_path)


@pytest.fixture
def instance(folder: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(folder)) as opened:
        yield opened


def leased(folder: Path) -> dict[str, str]:
    return {LEASE: lease_folder_id(folder)}


def test_run_without_a_process_returns_to_the_queue(folder: Path, instance: dg.DagsterInstance) -> None:
    dead, alive = (add_run(instance, STARTED, leased(folder)) for _ in range(2))
    for run in (dead, alive):
        claim_slot(instance, run)
    with leased_process(run_lease(folder, dead.run_id)):
        pass
    with leased_process(run_lease(folder, alive.run_id)):
        assert requeue_runs(instance, folder) == [dead.run_id]
        assert requeue_runs(instance, folder, before_daemon=True) == []
        assert (status_of(instance, dead), status_of(instance, alive)) == (QUEUED, STARTED)
        assert claimed_runs(instance) == {alive.run_id}
        assert not run_lease(folder, dead.run_id).exists()
    assert requeue_runs(instance, folder) == [alive.run_id]
    assert claimed_runs(instance) == set()


def test_next_memflow_run_frees_the_slots_of_a_killed_daemon(
    tmp_path: Path, folder: Path, instance: dg.DagsterInstance
) -> None:
    dead = add_run(instance, STARTED, leased(folder))
    claim_slot(instance, dead)
    with leased_process(run_lease(folder, dead.run_id)):
        assert not has_stale_locks(tmp_path)
    assert has_stale_locks(tmp_path)
    with open_instance(tmp_path):
        assert (status_of(instance, dead), claimed_runs(instance)) == (QUEUED, set())
    assert not has_stale_locks(tmp_path)


def test_run_of_another_host_is_left_alone(folder: Path, instance: dg.DagsterInstance) -> None:
    run = add_run(instance, STARTED, {LEASE: "of another host"})
    claim_slot(instance, run)
    assert requeue_runs(instance, folder, before_daemon=True) == []
    assert (status_of(instance, run), claimed_runs(instance)) == (STARTED, {run.run_id})


@pytest.mark.parametrize("status", [NOT_STARTED, STARTING])
def test_run_that_the_daemon_did_not_start_yet_returns_to_the_queue_at_its_start(
    status: dg.DagsterRunStatus, folder: Path, instance: dg.DagsterInstance
) -> None:
    run = add_run(instance, status)
    others = [
        add_run(instance, status, location=SERVED),
        add_run(instance, status, location=None),
        add_run(instance, status, {PROCESS: "a memflow run"}),
    ]
    assert requeue_runs(instance, folder) == [], "a daemon may be starting it"
    assert recover_runs(folder) == 1
    assert status_of(instance, run) is QUEUED
    assert {status_of(instance, other) for other in others} == {status}


def test_started_run_without_a_lease_is_left_alone(folder: Path, instance: dg.DagsterInstance) -> None:
    run = add_run(instance, STARTED)
    assert requeue_runs(instance, folder, before_daemon=True) == []
    assert status_of(instance, run) is STARTED


def test_canceling_run_without_a_process_is_canceled(folder: Path, instance: dg.DagsterInstance) -> None:
    run = add_run(instance, CANCELING, leased(folder))
    with leased_process(run_lease(folder, run.run_id)):
        requeue_runs(instance, folder)
        assert status_of(instance, run) is CANCELING
    requeue_runs(instance, folder)
    assert status_of(instance, run) is CANCELED


def test_leases_of_ended_and_deleted_runs_are_removed(folder: Path, instance: dg.DagsterInstance) -> None:
    ended = add_run(instance, SUCCESS, leased(folder))
    claim_slot(instance, ended)
    for name in (ended.run_id, "deleted"):
        with leased_process(run_lease(folder, name)):
            pass
    assert requeue_runs(instance, folder) == []
    assert (status_of(instance, ended), claimed_runs(instance)) == (SUCCESS, set())
    assert list(run_lease(folder, "x").parent.iterdir()) == []


def test_run_that_is_being_launched_is_not_returned_to_the_queue(
    folder: Path, instance: dg.DagsterInstance
) -> None:
    run = add_run(instance, STARTING)
    launching = acquire(run_lease(folder, run.run_id))
    assert launching is not None
    assert not requeue(instance, folder, run)
    launching.release()
    assert requeue(instance, folder, run)
    assert not requeue(instance, folder, run), "its status is read again"
