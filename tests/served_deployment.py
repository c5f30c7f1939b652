"""A daemon that uses a settings file: observations of the models, and the runs that follow."""

import time
from collections.abc import Callable

from served import Served, wait

from memflow.assets.jobs import OBSERVE

SENSOR = "regenerate_what_changed"
QUIET = 5
"""So many ticks without a request, and no run under way: nothing more can follow from a change."""

UNDER_WAY = {"QUEUED", "NOT_STARTED", "MANAGED", "STARTING", "STARTED", "CANCELING"}

Made = list[tuple[str, str]]
"""(partition, asset) of each asset that a run was asked to make, sorted; twice where it was made twice."""


class ServedDeployment:
    """A daemon (`served`) whose sensor is on, once a test has started it."""

    served: Served

    def observe(self, partitioned: bool = True, meanwhile: Callable[[], None] = lambda: None) -> Made:
        """Observe the models as the daily schedules do. Return the materializations once no more follow."""
        seen = {run["runId"] for run in self.served.runs()}
        looks = set()
        for job in OBSERVE:
            partition = self.served.requested(f"{job}_daily") if partitioned else ""
            looks.add(self.served.launch(job, partition))
        self._wait_for(looks)
        meanwhile()
        self.settle()
        followed = [run for run in self.served.runs() if run["runId"] not in seen | looks]
        assert all(run["status"] == "SUCCESS" for run in followed), followed
        assert all(run["tags"]["dagster/sensor_name"] == "regenerate_what_changed" for run in followed), (
            followed
        )
        return sorted(
            (run["tags"].get("dagster/partition", ""), "/".join(asset["path"]))
            for run in followed
            for asset in run["assetSelection"]
        )

    def settle(self) -> None:
        """Wait until QUIET ticks in a row requested nothing, all started while no run was in progress.

        Ticks count only after the first check of the runs that finds none in progress, because a check can be slow.
        """
        since: float | None = None

        def is_quiet() -> bool:
            nonlocal since
            ticks = self.served.ticks(SENSOR)
            if any(run["status"] in UNDER_WAY for run in self.served.runs()):
                since = None
                return False
            if since is None:
                since = time.time()
            quiet = [tick for tick in ticks if tick["timestamp"] > since]
            if any(tick["runIds"] for tick in quiet):
                since = None
                return False
            return len(quiet) >= QUIET

        wait("the daemon to be quiet", is_quiet, progress=self.served.progress, pause=2)

    def switch_on_late(self) -> None:
        """Switch the sensor on after a time in which no run may start."""
        runs = self.served.runs()
        time.sleep(5)  # longer than a tick of the sensor
        assert len(self.served.runs()) == len(runs), "the sensor is off"
        self.served.switch_on(SENSOR)

    def _wait_for(self, looks: set[str]) -> None:
        def seen() -> bool:
            status = {run["runId"]: run["status"] for run in self.served.runs()}
            assert not any(status[run] in ("FAILURE", "CANCELED") for run in looks), status
            return all(status[run] == "SUCCESS" for run in looks)

        wait("the observation", seen, progress=self.served.progress, pause=2)
