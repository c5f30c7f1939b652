"""The run launcher for a Ray cluster: submissions of lost jobs, health, and the settings file that names it."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster._core.instance.ref import InstanceRef
from dagster._core.launcher import WorkerStatus

pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("dagster_ray", reason="dagster-ray is not installed")

from dagster_ray import RayRunLauncher
from ray.job_submission import JobStatus

import resources
from resources.instance.instance import PROCESS
from resources.runs.ray_launcher import MAX_SUBMISSIONS, RayJobLauncher

ID, ENTRY = "dagster-run-1", "dagster api execute_run '{}'"
INSTANCE = Path(resources.__file__).parent / "instance"


class Client:
    """Ray's client for jobs, with jobs in a dictionary."""

    def __init__(self) -> None:
        self.jobs: dict[str, JobStatus] = {}
        self.submitted: list[str] = []
        self.error: Exception | None = None

    def get_job_status(self, submission_id: str) -> JobStatus:
        if self.error is not None:
            raise self.error
        if submission_id not in self.jobs:
            raise RuntimeError(f"Request failed with status code 404: Job {submission_id} does not exist.")
        return self.jobs[submission_id]

    def get_job_info(self, submission_id: str) -> Any:
        return type("Info", (), {"message": "node died"})

    def delete_job(self, submission_id: str) -> None:
        if not self.jobs[submission_id].is_terminal():
            raise RuntimeError("Request failed with status code 500: the job is running")
        del self.jobs[submission_id]

    def submit_job(self, submission_id: str, **options: Any) -> None:
        if submission_id in self.jobs:
            raise RuntimeError(f"Request failed with status code 500: {submission_id} already exists.")
        self.jobs[submission_id] = JobStatus.PENDING
        self.submitted.append(submission_id)


def run_in(
    instance: dg.DagsterInstance, status: dg.DagsterRunStatus = dg.DagsterRunStatus.STARTING, **tags: str
) -> dg.DagsterRun:
    """Store a run with a status and tags, and return it."""

    @dg.job
    def empty() -> None:
        pass

    return instance.create_run_for_job(empty, status=status, tags=tags)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    """Return an instance in memory."""
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def launcher(instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> RayJobLauncher:
    """Return a launcher with a client that needs no cluster. Its thread is not started."""
    launcher = RayJobLauncher("http://127.0.0.1:1")
    launcher.register_instance(instance)
    client = launcher.__dict__["client"] = Client()
    monkeypatch.setattr(threading.Thread, "start", lambda thread: None)
    monkeypatch.setattr(
        RayRunLauncher,
        "_launch_ray_job",
        lambda self, submission_id, entrypoint, run: client.submit_job(submission_id),
    )
    return launcher


def test_job_whose_node_is_lost_before_the_run_begins_is_submitted_again(
    launcher: RayJobLauncher, instance: dg.DagsterInstance
) -> None:
    run = run_in(instance)
    launcher._launch_ray_job(ID, ENTRY, run)
    (submission,) = launcher._starting.values()
    assert launcher._check_job(submission), "the job works"
    assert launcher.client.submitted == [ID]
    for count in range(2, MAX_SUBMISSIONS + 1):
        launcher.client.jobs[ID] = JobStatus.FAILED
        assert launcher._check_job(submission)
        assert launcher.client.submitted == [ID] * count
    launcher.client.jobs[ID] = JobStatus.FAILED
    assert not launcher._check_job(submission), "it is given up"
    assert len(launcher.client.submitted) == MAX_SUBMISSIONS


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.SUCCESS])
def test_job_of_a_run_that_has_begun_is_not_submitted_again(
    launcher: RayJobLauncher, instance: dg.DagsterInstance, status: dg.DagsterRunStatus
) -> None:
    starting = run_in(instance)
    launcher._launch_ray_job(ID, ENTRY, starting)
    (submission,) = launcher._starting.values()
    submission.run = run_in(instance, status)
    launcher.client.jobs[ID] = JobStatus.FAILED
    assert not launcher._check_job(submission)
    assert launcher.client.submitted == [ID]


def test_second_launch_leaves_a_job_that_works_alone_and_replaces_one_that_has_ended(
    launcher: RayJobLauncher, instance: dg.DagsterInstance
) -> None:
    run = run_in(instance)
    launcher._launch_ray_job(ID, ENTRY, run)
    launcher._launch_ray_job(ID, ENTRY, run)
    assert launcher.client.submitted == [ID]
    assert [line.partition("=")[0] for line in launcher.env_vars] == ["MEMFLOW_DOMAINS", "MEMFLOW_ASSISTANTS"]
    launcher.client.jobs[ID] = JobStatus.SUCCEEDED
    launcher._launch_ray_job(ID, ENTRY, run)
    assert launcher.client.submitted == [ID, ID]


def test_submission_frees_the_pool_slots_of_the_lost_process(
    launcher: RayJobLauncher, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    freed: list[str] = []
    monkeypatch.setattr(
        type(instance.event_log_storage),
        "free_concurrency_slots_for_run",
        lambda self, run_id: freed.append(run_id),
    )
    run = run_in(instance, dg.DagsterRunStatus.STARTED)
    launcher._launch_ray_job(f"{ID}-1", ENTRY, run)
    assert freed == [run.run_id]
    assert not launcher._starting, "a resumed run has begun, and Dagster's monitoring checks it"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("Request failed with status code 404: Job does not exist."), WorkerStatus.UNKNOWN),
        (RuntimeError("Request failed with status code 500: agent busy"), WorkerStatus.RUNNING),
        (ConnectionError("refused"), WorkerStatus.RUNNING),
    ],
)
def test_only_a_job_that_the_cluster_does_not_know_counts_as_lost(
    launcher: RayJobLauncher, instance: dg.DagsterInstance, error: Exception, expected: WorkerStatus
) -> None:
    launcher.client.error = error
    run = run_in(instance, dg.DagsterRunStatus.STARTED)
    assert launcher.check_run_worker_health(run).status is expected


def test_failed_job_of_a_started_run_is_reported(
    launcher: RayJobLauncher, instance: dg.DagsterInstance
) -> None:
    run = run_in(instance, dg.DagsterRunStatus.STARTED)
    launcher.client.jobs[f"dagster-run-{run.run_id}"] = JobStatus.FAILED
    assert launcher.check_run_worker_health(run).status is WorkerStatus.FAILED


def test_run_of_the_command_line_on_the_same_instance_is_not_asked_for(
    launcher: RayJobLauncher, instance: dg.DagsterInstance
) -> None:
    run = run_in(instance, dg.DagsterRunStatus.STARTED, **{PROCESS: "abc"})
    assert launcher.check_run_worker_health(run).status is WorkerStatus.RUNNING


def test_settings_file_is_accepted_and_differs_from_the_deployment_only_in_how_runs_start(
    tmp_path: Path,
) -> None:
    text = (INSTANCE / "deployment_ray.yaml").read_text(encoding="utf-8")
    (tmp_path / "dagster.yaml").write_text(text, encoding="utf-8")
    ref = InstanceRef.from_dir(str(tmp_path))
    launcher = ref.run_launcher
    assert isinstance(launcher, RayJobLauncher)
    assert (launcher.address, launcher.num_cpus, launcher.env_vars) == (None, 1, None)
    own, other = yaml.safe_load(text), yaml.safe_load((INSTANCE / "deployment.yaml").read_text())
    for name in ("run_storage", "event_log_storage", "schedule_storage", "retention", "telemetry"):
        assert own[name] == other[name], name
    assert own["run_monitoring"]["max_resume_run_attempts"] > 0
