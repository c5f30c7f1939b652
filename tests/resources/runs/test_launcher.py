"""The run launcher: one process per run, and the health of runs of this host, other hosts and code servers."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.events import DagsterEvent, DagsterEventType
from dagster._core.launcher import LaunchRunContext, ResumeRunContext, WorkerStatus
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._grpc.types import GetCurrentRunsResult
from dagster._serdes import serialize_value
from leased_process import SLEEP, leased_process
from leased_runs import SERVED, add_run, claim_slot, claimed_runs, status_of

from resources.instance.instance import dagster_home, open_instance
from resources.runs.launcher import MAX_LAUNCHES, LeasedRunLauncher
from resources.runs.leases import (
    Holder,
    acquire,
    end_holders,
    holder_of,
    is_leased,
    lease_folder_id,
    run_lease,
    run_leases,
)
from resources.runs.process_locks import LOCKS
from resources.runs.recovery import LEASE, PROCESS

CANCELED, FAILURE, QUEUED, STARTED, STARTING = (
    dg.DagsterRunStatus[name] for name in ("CANCELED", "FAILURE", "QUEUED", "STARTED", "STARTING")
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return dagster_home(tmp_path)


@pytest.fixture
def instance(folder: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(folder)) as opened:
        yield opened
    end_holders(run_leases(folder), 5)


@pytest.fixture
def launcher(instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> LeasedRunLauncher:
    """Return the instance's launcher. Its runs are processes that sleep."""
    launcher = instance.run_launcher
    assert isinstance(launcher, LeasedRunLauncher)
    monkeypatch.setattr(launcher, "_command", lambda *_, **__: SLEEP)
    return launcher


def await_true(holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def kill_holder(path: Path) -> None:
    end_holders([path], 5)


def report(instance: dg.DagsterInstance, run: dg.DagsterRun, kind: DagsterEventType) -> None:
    """Report a change of a run's status, as the daemon or the process of the run does."""
    instance.report_dagster_event(DagsterEvent(kind.value, job_name=run.job_name), run_id=run.run_id)


def launch(launcher: LeasedRunLauncher, run: dg.DagsterRun) -> None:
    launcher.launch_run(LaunchRunContext(run, None))


def health(launcher: LeasedRunLauncher, instance: dg.DagsterInstance, run: dg.DagsterRun) -> WorkerStatus:
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    return launcher.check_run_worker_health(found).status


def test_run_has_exactly_one_process(
    launcher: LeasedRunLauncher, instance: dg.DagsterInstance, folder: Path
) -> None:
    run = add_run(instance, STARTING)
    launch(launcher, run)
    path = run_lease(folder, run.run_id)
    first = holder_of(path)
    assert first is not None and first.is_running
    launch(launcher, run)
    launcher.resume_run(ResumeRunContext(run, None, 1))
    assert holder_of(path) == first
    assert health(launcher, instance, run) is WorkerStatus.RUNNING


def test_started_run_continues_with_another_process_when_its_process_is_killed(
    launcher: LeasedRunLauncher, instance: dg.DagsterInstance, folder: Path
) -> None:
    run = add_run(instance, STARTING)
    launch(launcher, run)
    path = run_lease(folder, run.run_id)
    first = holder_of(path)
    report(instance, run, DagsterEventType.PIPELINE_START)
    claim_slot(instance, run)
    kill_holder(path)
    assert health(launcher, instance, run) is WorkerStatus.NOT_FOUND
    instance.resume_run(run.run_id, None, 1)  # type: ignore[arg-type]
    assert health(launcher, instance, run) is WorkerStatus.RUNNING
    assert holder_of(path) not in (None, first)
    assert claimed_runs(instance) == set()
    assert status_of(instance, run) is STARTED


def test_run_whose_process_ends_before_it_starts_returns_to_the_queue_and_at_last_fails(
    launcher: LeasedRunLauncher, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "_command", lambda *_, **__: [sys.executable, "-c", "raise SystemExit(3)"])
    run = add_run(instance, QUEUED)
    for number in range(1, MAX_LAUNCHES + 1):
        report(instance, run, DagsterEventType.PIPELINE_STARTING)
        launch(launcher, run)
        await_true(lambda: status_of(instance, run) is not STARTING)
        assert status_of(instance, run) is (QUEUED if number < MAX_LAUNCHES else FAILURE)


def test_run_that_returned_to_the_queue_meanwhile_is_not_launched(
    launcher: LeasedRunLauncher, instance: dg.DagsterInstance, folder: Path
) -> None:
    run = add_run(instance, QUEUED)
    launch(launcher, run)
    assert not run_lease(folder, run.run_id).exists()


def test_terminated_run_is_ended_or_canceled(
    launcher: LeasedRunLauncher, instance: dg.DagsterInstance, folder: Path
) -> None:
    run, dead = add_run(instance, STARTING), add_run(instance, STARTED, {LEASE: lease_folder_id(folder)})
    launch(launcher, run)
    claim_slot(instance, dead)
    assert launcher.terminate(run.run_id) and launcher.terminate(dead.run_id)
    await_true(lambda: not is_leased(run_lease(folder, run.run_id)))
    await_true(lambda: status_of(instance, run) is CANCELED)
    assert status_of(instance, dead) is CANCELED
    assert claimed_runs(instance) == set()
    assert not launcher.terminate(dead.run_id), "it has ended"


def test_run_of_another_host_is_neither_declared_dead_nor_ended(
    launcher: LeasedRunLauncher, instance: dg.DagsterInstance
) -> None:
    run = add_run(instance, STARTED, {LEASE: "of another host"})
    assert health(launcher, instance, run) is WorkerStatus.RUNNING
    assert not launcher.terminate(run.run_id)
    assert status_of(instance, run) is STARTED


def test_run_of_a_killed_memflow_run_fails_and_is_not_resumed(
    launcher: LeasedRunLauncher, instance: dg.DagsterInstance, folder: Path
) -> None:
    run = add_run(instance, STARTED, {PROCESS: "a"}, location=None)
    claim_slot(instance, run)
    with leased_process(folder / LOCKS / "a"):
        assert health(launcher, instance, run) is WorkerStatus.RUNNING
        assert status_of(instance, run) is STARTED
    health(launcher, instance, run)
    assert (status_of(instance, run), claimed_runs(instance)) == (FAILURE, set())


def test_run_of_a_memflow_run_on_another_host_is_left_alone(
    launcher: LeasedRunLauncher, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    with open_instance(tmp_path / "home of the other host") as opened:
        run = add_run(instance, STARTED, opened.tags, location=None)
        claim_slot(instance, run)
        assert health(launcher, instance, run) is WorkerStatus.RUNNING
    assert (status_of(instance, run), claimed_runs(instance)) == (STARTED, {run.run_id})


@pytest.mark.parametrize(
    ("socket", "answer", "expected"),
    [
        (None, ["itself"], WorkerStatus.RUNNING),
        (None, ["another"], WorkerStatus.NOT_FOUND),
        (None, DagsterUserCodeUnreachableError("refused"), WorkerStatus.RUNNING),
        ("/nonexistent/socket", DagsterUserCodeUnreachableError("gone"), WorkerStatus.NOT_FOUND),
    ],
)
def test_code_server_is_asked_for_its_runs(
    socket: str | None,
    answer: list[str] | Exception,
    expected: WorkerStatus,
    launcher: LeasedRunLauncher,
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = add_run(instance, STARTED, {GRPC_INFO_TAG: "{}"}, location=SERVED)

    def current() -> str:
        if isinstance(answer, Exception):
            raise answer
        names = [run.run_id if name == "itself" else name for name in answer]
        return serialize_value(GetCurrentRunsResult(current_runs=names, serializable_error_info=None))

    client = SimpleNamespace(socket=socket, get_current_runs=current)
    monkeypatch.setattr(launcher, "_get_grpc_client_for_termination", lambda _: client)
    assert health(launcher, instance, run) is expected


def test_worker_does_not_pass_its_lease_to_programs_that_it_starts(tmp_path: Path) -> None:
    path = tmp_path / "lease"
    lease = acquire(path)
    assert lease is not None
    code = (
        "import subprocess, sys\nfrom unittest.mock import patch\nfrom resources.runs import worker as run_worker\n"
        "def api(arguments, **_):\n"
        "    child = subprocess.Popen(['sleep', '600'], close_fds=False)\n"
        "    print(child.pid, *arguments, flush=True)\n"
        "    sys.stdin.read()\n"
        "with patch.object(run_worker, 'api_cli', api):\n    run_worker.main(*sys.argv[1:])\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code, str(lease.descriptor), str(path), "execute_run", "{}"],
        pass_fds=[lease.descriptor],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    lease.hand_over(Holder.of(worker.pid))
    assert worker.stdout is not None
    child, *arguments = worker.stdout.readline().split()
    try:
        assert arguments == ["execute_run", "{}"]
        assert is_leased(path)
        worker.kill()
        worker.wait()
        assert not is_leased(path)
    finally:
        os.kill(int(child), 9)
