"""A `memflow dev` for one test: on a free port, used over GraphQL as by the UI, ended as a process group."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from memflow.resources.process import default_signals

ROOT = Path(__file__).parents[1]
QUERIES = Path(__file__).with_suffix(".graphql")
ENDED = {"SUCCESS", "FAILURE", "CANCELED"}
LOCATION = {"repositoryName": "__repository__", "repositoryLocationName": "memflow"}


class Served:
    """A running `memflow dev` and the URL of its UI."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, name: str, **variables: Any) -> Any:
        """Run an operation of served.graphql and return the value of its only field."""
        body = {"query": QUERIES.read_text(), "operationName": name, "variables": variables}
        request = urllib.request.Request(
            f"{self.url}/graphql", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        assert not answer.get("errors"), answer["errors"]
        (found,) = answer["data"].values()
        return found

    def runs(self) -> list[dict[str, Any]]:
        """Return all runs, the latest first, with their tags as a mapping."""
        found = self.ask("Runs")["results"]
        return [{**run, "tags": {tag["key"]: tag["value"] for tag in run["tags"]}} for run in found]

    def backfill(self, job: str, partitions: list[str]) -> str:
        """Start a backfill of a job and return its id."""
        selector = {"partitionSetName": f"{job}_partition_set", "repositorySelector": LOCATION}
        params = {"selector": selector, "partitionNames": partitions}
        return self._backfill(self.ask("LaunchBackfill", params=params))

    def launch(self, job: str, partition: str = "") -> str:
        """Start a job, for one partition if it has any, and return its run id."""
        found = self.launch_answer(job, {}, partition)
        assert found["__typename"] == "LaunchRunSuccess", found
        return str(found["run"]["runId"])

    def launch_answer(self, job: str, config: dict[str, Any], partition: str = "") -> dict[str, Any]:
        """Start a job with a run config, and return the answer."""
        tags = [{"key": "dagster/partition", "value": partition}] if partition else []
        execution = {
            "selector": {**LOCATION, "jobName": job},
            "runConfigData": config,
            "executionMetadata": {"tags": tags},
        }
        answer: dict[str, Any] = self.ask("Launch", execution=execution)
        return answer

    def requested(self, schedule: str) -> str:
        """Return the partition of the only run that one evaluation of a schedule requests."""
        tick = self.ask("DryRun", schedule={**LOCATION, "scheduleName": schedule}, at=time.time())
        assert tick["evaluationResult"]["error"] is None, tick
        (request,) = tick["evaluationResult"]["runRequests"]
        (partition,) = [tag["value"] for tag in request["tags"] if tag["key"] == "dagster/partition"]
        return str(partition)

    def switch_on(self, sensor: str) -> None:
        """Start a sensor."""
        found = self.ask("SwitchOn", sensor={**LOCATION, "sensorName": sensor})
        assert found["sensorState"]["status"] == "RUNNING", found

    def ticks(self, sensor: str) -> list[dict[str, Any]]:
        """Return the sensor's ended ticks, the latest first."""
        found = self.ask("Ticks", sensor={**LOCATION, "sensorName": sensor})["sensorState"]["ticks"]
        return [tick for tick in found if tick["endTimestamp"]]

    def backfills(self) -> list[str]:
        """Return the ids of all backfills, the latest first."""
        return [backfill["id"] for backfill in self.ask("Backfills")["results"]]

    def ended(self, backfill: str, patience: float = 300) -> dict[str, str]:
        """Return the status of each partition's run after the backfill and its runs have ended.

        The status of the backfill is not enough: Dagster completes it as soon as the runs are queued.
        """
        found: dict[str, str] = {}

        def over() -> bool:
            status = self.ask("Backfill", id=backfill)["status"]
            found.update(
                (run["tags"]["dagster/partition"], run["status"])
                for run in self.runs()
                if run["tags"].get("dagster/backfill") == backfill
            )
            return status.startswith("COMPLETED") and set(found.values()) <= ENDED

        wait(f"the backfill {backfill} to end", over, patience, self.progress, pause=2)
        return found

    def progress(self) -> set[tuple[str, str]]:
        """Return the status of each run."""
        return {(run["runId"], run["status"]) for run in self.runs()}

    def reasons(self, run: str) -> list[str]:
        """Return the errors of the failed steps of a run."""
        events = self.ask("Failures", id=run)["eventConnection"]["events"]
        found = [event["error"] for event in events if event["__typename"] == "ExecutionStepFailureEvent"]
        return [(error["causes"] or [error])[0]["message"] for error in found]

    @staticmethod
    def _backfill(found: dict[str, Any]) -> str:
        assert found["__typename"] == "LaunchBackfillSuccess", found
        return str(found["backfillId"])


def wait(
    what: str,
    holds: Callable[[], Any],
    patience: float = 300,
    progress: Callable[[], object] = lambda: None,
    pause: float = 1,
) -> Any:
    """Call `holds` until it returns a true value, and return this value.

    Fail with `what` in the message if the value of `progress` does not change for `patience` seconds.
    """
    reached = progress()
    since = time.monotonic()
    while time.monotonic() < since + patience:
        if found := holds():
            return found
        if (now := progress()) != reached:
            reached, since = now, time.monotonic()
        time.sleep(pause)
    raise AssertionError(f"waited {patience:.0f} s without progress for {what}")


@contextmanager
def served(settings: Path, *program: str, **environment: str) -> Iterator[Served]:
    """Run `memflow dev` with a settings file until the block ends, or another program that serves the UI."""
    program = program or (sys.executable, "-m", "memflow.cli", "--settings", str(settings), "dev")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = settings.with_name("dev.log")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*program, f"--port={port}"],
            env={**alone(), **environment},
            cwd=ROOT,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=default_signals(),  # noqa: PLW1509
        )
    dev = Served(f"http://127.0.0.1:{port}")

    def answers() -> bool:
        assert process.poll() is None, log.read_text()[-4000:]
        try:
            entry = dev.ask("Location")["locationEntries"][0]["locationOrLoadError"]
        except (urllib.error.URLError, ConnectionError):
            return False
        assert entry["__typename"] == "RepositoryLocation", entry
        return True

    try:
        wait("memflow dev to answer", answers)
        yield dev
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # servers of code may outlive the one that started them
        process.wait(30)


def alone() -> dict[str, str]:
    """Return the environment of a subprocess: this source tree and no personal settings."""
    mine = {
        name: value for name, value in os.environ.items() if not name.startswith(("MEMFLOW_", "DAGSTER_"))
    }
    return {**mine, "PYTHONPATH": str(ROOT)}
