"""`memflow dev` on a free port, used over GraphQL as by the UI, and ended as a process group."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from served import wait

from resources.process import default_signals

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LOCATION = {"repositoryName": "__repository__", "repositoryLocationName": "memflow"}


class Served:
    """A running `memflow dev`, over GraphQL."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, name: str, **variables: Any) -> Any:
        """Run an operation of queries.graphql and return the value of its only field."""
        body = {
            "query": (HERE / "queries.graphql").read_text(),
            "operationName": name,
            "variables": variables,
        }
        request = urllib.request.Request(
            self.url, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        assert not answer.get("errors"), answer["errors"]
        (found,) = answer["data"].values()
        return found

    def launch(self, job: str, tags: Mapping[str, str]) -> str:
        """Start a job and return its run id."""
        execution = {
            "selector": {**LOCATION, "jobName": job},
            "runConfigData": {},
            "executionMetadata": {"tags": [{"key": key, "value": value} for key, value in tags.items()]},
        }
        found = self.ask("Launch", execution=execution)
        assert found["__typename"] == "LaunchRunSuccess", found
        return str(found["run"]["runId"])

    def runs(self) -> list[dict[str, Any]]:
        """Return all runs, the latest first, with their tags as a mapping."""
        found = self.ask("Runs")["results"]
        return [{**run, "tags": {tag["key"]: tag["value"] for tag in run["tags"]}} for run in found]

    def requested(self, schedule: str) -> dict[str, str]:
        """Return the tags of the only run that one evaluation of a schedule requests."""
        tick = self.ask("DryRun", schedule={**LOCATION, "scheduleName": schedule}, at=time.time())
        assert tick["evaluationResult"]["error"] is None, tick
        (asked,) = tick["evaluationResult"]["runRequests"]
        return {tag["key"]: tag["value"] for tag in asked["tags"]}

    def switch_on(self, sensor: str) -> None:
        """Start a sensor."""
        found = self.ask("SwitchOn", sensor={**LOCATION, "sensorName": sensor})
        assert found["sensorState"]["status"] == "RUNNING", found

    def switch_off(self, sensor: str) -> None:
        """Stop a sensor."""
        found = self.ask("Ticks", sensor={**LOCATION, "sensorName": sensor})
        self.ask("SwitchOff", id=found["sensorState"]["id"])

    def ticks(self, sensor: str) -> list[dict[str, Any]]:
        """Return the sensor's ended ticks, the latest first."""
        found = self.ask("Ticks", sensor={**LOCATION, "sensorName": sensor})["sensorState"]["ticks"]
        return [tick for tick in found if tick["endTimestamp"]]

    def progress(self) -> set[tuple[str, str]]:
        """Return the status of each run."""
        return {(run["runId"], run["status"]) for run in self.runs()}


@pytest.fixture
def memflow_dev(tmp_path: Path, clean_environment: dict[str, str]) -> Iterator[Callable[[Path], Served]]:
    """Return a function that starts `memflow dev` with a settings file."""
    started: list[subprocess.Popen[bytes]] = []

    def serve(settings: Path) -> Served:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = tmp_path / "dev.log"
        command = [sys.executable, "-m", "memflow.cli", "--settings", str(settings), "dev", f"--port={port}"]
        with log.open("wb") as out:
            started.append(
                subprocess.Popen(
                    command,
                    env=clean_environment,
                    cwd=ROOT,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=default_signals(),  # noqa: PLW1509
                )
            )
        served = Served(f"http://127.0.0.1:{port}/graphql")

        def answers() -> bool:
            assert started[-1].poll() is None, log.read_text()[-4000:]
            try:
                entry = served.ask("Location")["locationEntries"][0]["locationOrLoadError"]
            except (urllib.error.URLError, ConnectionError):
                return False
            assert entry["__typename"] == "RepositoryLocation", entry
            return True

        wait("memflow dev to answer", answers)
        return served

    yield serve
    for process in started:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)
