"""Runs whose process was killed: those of `memflow run` fail, those of `memflow dev` return to the queue."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from daemon_runs import SERVED, add_run, claim_slot, claimed_runs, status_of
from dagster import DagsterRunStatus as Status

from memflow.resources.instance.instance import dagster_home, open_instance, recover_runs
from memflow.resources.runs.dev_programs import hold_home
from memflow.resources.runs.process_locks import DEV, LOCKS, has_stale_locks
from memflow.resources.runs.recovery import PROCESS, requeue_runs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return dagster_home(tmp_path)


@pytest.fixture
def instance(folder: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        yield instance


@pytest.mark.parametrize("status", [Status.NOT_STARTED, Status.STARTING, Status.STARTED])
def test_run_of_a_killed_daemon_returns_to_the_queue_without_its_slot(
    instance: dg.DagsterInstance, folder: Path, status: Status
) -> None:
    run = add_run(instance, status, {"dagster/backfill": "b"})
    claim_slot(instance, run)
    assert recover_runs(folder) == 1
    assert status_of(instance, run) is Status.QUEUED
    assert claimed_runs(instance) == set()
    assert recover_runs(folder) == 0


def test_runs_that_ended_or_that_another_process_executes_are_left_alone(
    instance: dg.DagsterInstance, folder: Path
) -> None:
    runs = [
        add_run(instance, Status.SUCCESS),
        add_run(instance, Status.QUEUED),
        add_run(instance, Status.STARTED, {PROCESS: "a memflow run"}, location=None),
        add_run(instance, Status.STARTED, location=SERVED),
    ]
    before = [status_of(instance, run) for run in runs]
    assert recover_runs(folder) == 0
    assert [status_of(instance, run) for run in runs] == before


def test_run_that_a_user_was_canceling_is_canceled(instance: dg.DagsterInstance, folder: Path) -> None:
    run = add_run(instance, Status.CANCELING)
    assert recover_runs(folder) == 0
    assert status_of(instance, run) is Status.CANCELED


def test_runs_of_another_launcher_are_left_to_its_monitoring(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = add_run(instance, Status.STARTED)
    monkeypatch.setattr(type(instance), "run_launcher", object())
    assert requeue_runs(instance) == []
    monkeypatch.undo()
    assert status_of(instance, run) is Status.STARTED


def test_memflow_run_requeues_the_runs_of_a_killed_memflow_dev_only(
    instance: dg.DagsterInstance, folder: Path, tmp_path: Path
) -> None:
    run = add_run(instance, Status.STARTED)
    with open_instance(tmp_path):
        assert status_of(instance, run) is Status.STARTED, (
            "no `memflow dev` was killed: another program may execute it"
        )
    with hold_home(folder, "http://127.0.0.1:3000"):
        assert not has_stale_locks(tmp_path)
        with open_instance(tmp_path):
            assert status_of(instance, run) is Status.STARTED
    assert has_stale_locks(tmp_path)
    with open_instance(tmp_path):
        assert status_of(instance, run) is Status.QUEUED
    assert not has_stale_locks(tmp_path) and (folder / DEV).exists()


def test_runs_of_a_killed_memflow_run_fail(
    instance: dg.DagsterInstance, folder: Path, tmp_path: Path
) -> None:
    run = add_run(instance, Status.STARTED, {PROCESS: "killed"}, location=None)
    claim_slot(instance, run)
    (folder / LOCKS).mkdir()
    (folder / LOCKS / "killed").touch()
    assert has_stale_locks(tmp_path)
    with open_instance(tmp_path):
        assert status_of(instance, run) is Status.FAILURE
    assert claimed_runs(instance) == set() and not has_stale_locks(tmp_path)
