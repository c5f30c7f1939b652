"""A `dagster dev` of one's own: on a free port, in a folder of its own, ended as a process group."""

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
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LOCATION = {"repositoryName": "__repository__", "repositoryLocationName": "memflow"}


class Served:
    """A running `dagster dev`, spoken to as the UI speaks to it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, name: str, **variables: Any) -> Any:
        """The answer to an operation of queries.graphql: what is under its one field."""
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

    def launch(self, job: str) -> str:
        """Start a job; its run id."""
        found = self.ask("Launch", execution={"selector": {**LOCATION, "jobName": job}, "runConfigData": {}})
        assert found["__typename"] == "LaunchRunSuccess", found
        return str(found["run"]["runId"])

    def runs(self) -> list[dict[str, Any]]:
        """Every run there is, the latest first, its tags as a mapping."""
        found = self.ask("Runs")["results"]
        return [{**run, "tags": {tag["key"]: tag["value"] for tag in run["tags"]}} for run in found]

    def switch_on(self, sensor: str) -> None:
        self.ask("SwitchOn", sensor={**LOCATION, "sensorName": sensor})

    def switch_off(self, sensor: str) -> None:
        found = self.ask("Ticks", sensor={**LOCATION, "sensorName": sensor})
        self.ask("SwitchOff", id=found["sensorState"]["id"])

    def ticks(self, sensor: str) -> list[dict[str, Any]]:
        """The sensor's latest ticks that have ended, the latest first."""
        found = self.ask("Ticks", sensor={**LOCATION, "sensorName": sensor})["sensorState"]["ticks"]
        return [tick for tick in found if tick["endTimestamp"]]


def wait(what: str, holds: Callable[[], Any], patience: float = 300) -> Any:
    """What `holds` returns, once it is true. Fails naming `what` after `patience` seconds."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if found := holds():
            return found
        time.sleep(1)
    raise AssertionError(f"waited {patience:.0f} s for {what}")


@pytest.fixture
def dagster_dev(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """serve(file, home, **environment): `dagster dev` over the definitions in `file`."""
    started: list[subprocess.Popen[bytes]] = []

    def serve(file: Path, home: Path, **environment: str) -> Served:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        workspace = tmp_path / "workspace.yaml"
        workspace.write_text(
            f"load_from:\n  - python_file:\n      relative_path: {file}\n      location_name: memflow\n"
        )
        log = tmp_path / "dagster_dev.log"
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        with log.open("wb") as out:
            started.append(
                subprocess.Popen(
                    [
                        *(sys.executable, "-m", "dagster", "dev"),
                        *("-w", str(workspace), "-h", "127.0.0.1", "-p", str(port)),
                    ],
                    env={**os.environ, "DAGSTER_HOME": str(home), "PYTHONPATH": paths, **environment},
                    cwd=home,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
        served = Served(f"http://127.0.0.1:{port}/graphql")

        def answers() -> bool:
            assert started[-1].poll() is None, log.read_text()[-4000:]
            try:
                return bool(served.ask("Location")["locationEntries"][0]["locationOrLoadError"])
            except (urllib.error.URLError, ConnectionError):
                return False

        wait("dagster dev to answer", answers, patience=120)
        return served

    yield serve
    for process in started:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)
