"""A model changes in memflow.toml while a real daemon runs: which partitions are regenerated.

The requests of each tick are tested in tests/assets/test_automation.py.
"""

import time
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

import pytest
from served import wait

from assets.jobs import OBSERVE
from memflow.cli.pipeline import Silent, run_pipeline
from memflow.cli.planned_runs import RunRequest
from resources.lake import Lake
from resources.settings import load

pytestmark = pytest.mark.daemon

SETTINGS = Template((Path(__file__).parent / "memflow.toml").read_text(encoding="utf-8"))
SENSOR = "regenerate_what_changed"
QUIET = 5
"""So many ticks without a request, and no run under way: nothing more can follow from a change."""

UNDER_WAY = {"QUEUED", "NOT_STARTED", "MANAGED", "STARTING", "STARTED", "CANCELING"}
LEFT = {
    *("state/profiles", "state/variables", "state/changes", "state/entities"),
    *("utterance/turns", "question/keys", "question/probes", "feedback/sessions"),
}
RIGHT = {
    *("memory/transcripts", "memory/indexes", "memory/policies", "memory/feedback"),
    *("answer/replies", "score/verdicts", "score/attributions", "score/claims"),
}
BOARD = {("", "score/leaderboard")}
MINE, OTHER = "bm25_message", "bm25_message@other"
MADE = {"amemgym_small": (MINE,), "amemgym_base": (MINE, OTHER), "memorybench_demo": (MINE,)}
"""The assistants measured in each domain before anything changes; two of the six partitions are never made."""

Made = list[tuple[str, str]]
"""(partition, asset) of each asset that a run was asked to make, sorted; twice where it was made twice."""


def every(partitions: list[str], assets: set[str]) -> set[tuple[str, str]]:
    return {(partition, asset) for partition in partitions for asset in assets}


class Deployment:
    """A settings file, and optionally a daemon that uses it."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.file = folder / "memflow.toml"
        self.values = {
            **{"home": str(folder / "home"), "data": str(data)},
            **{"player": "player", "player_seed": 1, "other_seed": 1},
        }
        self.served: Any = None
        self.change()
        self.lake = Lake(load(self.file).lake_root)

    def change(self, **values: Any) -> None:
        """Write the settings with these values."""
        self.values.update(values)
        self.file.write_text(SETTINGS.substitute(self.values), encoding="utf-8")

    def make(self) -> None:
        """Materialize the partitions of MADE with `memflow run`."""
        for domain, assistants in MADE.items():
            outcome = run_pipeline(load(self.file), RunRequest([domain], assistants), Silent())
            assert not outcome.failed, outcome.failed

    def contents(self) -> dict[tuple[str, str], str]:
        """Return the content hash of every partition of every table."""
        tables = [asset.replace("/", ".") for asset in (*LEFT, *RIGHT)]
        return {
            (partition, table): self.lake.facts(table, partition).digest
            for table in tables
            for partition in self.lake.partitions(table)
        }

    def observe(self, partitioned: bool = True, meanwhile: Callable[[], None] = lambda: None) -> Made:
        """Observe the models as the daily schedules do. Return the materializations once no more follow."""
        seen = {run["runId"] for run in self.served.runs()}
        looks = set()
        for job in OBSERVE:
            tags = self.served.requested(f"{job}_daily") if partitioned else {}
            assert ("dagster/partition" in tags) == partitioned
            looks.add(self.served.launch(job, tags))
        self._wait_for(looks)
        meanwhile()
        self.settle()
        followed = [run for run in self.served.runs() if run["runId"] not in seen | looks]
        assert all(run["status"] == "SUCCESS" for run in followed), followed
        assert all(run["tags"]["memflow/reason"] == "upstream-changed" for run in followed), followed
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

        wait("the daemon to be quiet", is_quiet, progress=self.served.progress, pause=0.5)

    def switch_on_late(self) -> None:
        """Switch the sensor on after a time in which no run may start."""
        runs = self.served.runs()
        time.sleep(10)
        assert len(self.served.runs()) == len(runs), "the sensor is off"
        self.served.switch_on(SENSOR)

    def _wait_for(self, looks: set[str]) -> None:
        def seen() -> bool:
            status = {run["runId"]: run["status"] for run in self.served.runs()}
            assert not any(status[run] in ("FAILURE", "CANCELED") for run in looks), status
            return all(status[run] == "SUCCESS" for run in looks)

        wait("the observation", seen, progress=self.served.progress, pause=0.5)


@pytest.fixture
def deployment(
    tmp_path: Path, published_users: Callable[..., Path], memflow_dev: Callable[[Path], Any]
) -> Deployment:
    """Return a deployment in which `memflow run` materialized MADE, with a daemon and its sensor on."""
    deployment = Deployment(tmp_path, published_users(tmp_path / "data", users=1, periods=2))
    deployment.make()
    deployment.served = memflow_dev(deployment.file)
    deployment.served.switch_on(SENSOR)
    return deployment


def test_daemon_regenerates_only_partitions_that_depend_on_a_changed_model(deployment: Deployment) -> None:
    assert deployment.observe() == [], "models are seen for the first time"
    assert deployment.observe(partitioned=False) == [], "unchanged"

    before = deployment.contents()
    deployment.change(player="player2", player_seed=2)
    followed = [f"{MINE}|amemgym_base", f"{OTHER}|amemgym_base", f"{MINE}|amemgym_small"]
    assert deployment.observe() == sorted(
        every(["amemgym_small"], LEFT)
        | every(["memorybench_demo"], {"feedback/sessions"})
        | every(followed, RIGHT)
        | BOARD
    )
    after = deployment.contents()
    changed = {where for where in after if after[where] != before[where]}
    assert ("amemgym_small", "state.variables") in changed
    assert ("memorybench_demo", "feedback.sessions") not in changed, "so its dependents stay"

    deployment.served.switch_off(SENSOR)
    deployment.change(other_seed=2)
    assert deployment.observe(meanwhile=deployment.switch_on_late) == sorted(
        every([f"{OTHER}|amemgym_base"], RIGHT) | BOARD
    )
    changed = {where for where, content in deployment.contents().items() if content != after[where]}
    assert {partition for partition, _ in changed} == {f"amemgym_base/{OTHER}"}
