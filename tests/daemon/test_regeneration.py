"""A model changes in memflow.toml while a real daemon runs: which partitions are regenerated, and their drift.

The requests of each tick are tested in tests/assets/test_automation.py, the shifts that drift finds in
tests/whole/test_drift.py.
"""

import time
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

import pytest
from served import Served, wait

from memflow.assets.jobs import OBSERVE
from memflow.operations.pipeline import Silent, run_pipeline
from memflow.operations.planned_runs import RunRequest
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import load

pytestmark = pytest.mark.daemon

SETTINGS = Template((Path(__file__).parent / "memflow.toml").read_text(encoding="utf-8"))
LEFT = {
    *("state/profiles", "state/variables", "state/changes", "state/entities"),
    *("utterance/turns", "question/keys", "question/probes", "feedback/sessions", "score/calibrations"),
}
RIGHT = {
    *("memory/transcripts", "memory/indexes", "memory/policies", "memory/feedback"),
    *("answer/replies", "score/verdicts", "score/attributions", "score/claims", "score/health"),
}
BOARD = {("", f"score/{table}") for table in ("comparisons", "drift", "history", "leaderboard")}
SENSOR = "regenerate_what_changed"
QUIET = 6
"""So many ticks without a request, and no run under way: nothing more can follow from a change.

The leaderboard is requested at the fourth evaluation after the last score: it waits for more scores (automation.py).
"""

UNDER_WAY = {"QUEUED", "NOT_STARTED", "MANAGED", "STARTING", "STARTED", "CANCELING"}

Made = list[tuple[str, str]]
"""(partition, asset) of each asset that a run was asked to make, sorted; twice where it was made twice."""

MINE, OTHER = "bm25_message", "bm25_message@other"
MADE = {"amemgym_small": (MINE,), "amemgym_base": (MINE, OTHER), "memorybench_demo": (MINE,)}
"""The assistants measured in each domain before anything changes; two of the six partitions are never made."""


def every(partitions: list[str], assets: set[str]) -> set[tuple[str, str]]:
    return {(partition, asset) for partition in partitions for asset in assets}


class Deployment:
    """A settings file, and a daemon (`served`) with its sensor on, once a test has started it."""

    served: Served

    def __init__(self, folder: Path, data: Path) -> None:
        self.file = folder / "memflow.toml"
        self.values = {
            **{"home": str(folder / "home"), "data": str(data)},
            **{"player": "player", "player_seed": 1, "other_seed": 1},
        }
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

    def observe(self, partitioned: bool = True) -> Made:
        """Observe the models as the daily schedules do. Return the materializations once no more follow."""
        seen = {run["runId"] for run in self.served.runs()}
        looks = set()
        for job in OBSERVE:
            partition = self.served.requested(f"{job}_daily") if partitioned else ""
            looks.add(self.served.launch(job, partition))
        self._wait_for(looks)
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

    def _wait_for(self, looks: set[str]) -> None:
        def seen() -> bool:
            status = {run["runId"]: run["status"] for run in self.served.runs()}
            failed = [run for run in looks if status[run] in ("FAILURE", "CANCELED")]
            assert not failed, {run: (status[run], self.served.reasons(run)) for run in failed}
            return all(status[run] == "SUCCESS" for run in looks)

        wait("the observation", seen, progress=self.served.progress, pause=2)


@pytest.fixture
def deployment(
    tmp_path: Path, published_users: Callable[..., Path], memflow_dev: Callable[[Path], Served]
) -> Deployment:
    """Return a deployment in which `memflow run` materialized MADE, with a daemon and its sensor on."""
    deployment = Deployment(tmp_path, published_users(tmp_path / "data", users=1, periods=2))
    deployment.make()
    deployment.served = memflow_dev(deployment.file)
    deployment.served.switch_on(SENSOR)
    return deployment


def test_daemon_regenerates_only_partitions_that_depend_on_a_changed_model(deployment: Deployment) -> None:
    assert deployment.observe(partitioned=False) == [], "models are seen for the first time"

    before = deployment.contents()
    deployment.change(player="player2", player_seed=2)
    followed = [f"{MINE}|amemgym_base", f"{OTHER}|amemgym_base", f"{MINE}|amemgym_small"]
    assert deployment.observe() == sorted(
        every(["amemgym_small"], LEFT)
        | every(["memorybench_demo"], {"feedback/sessions"})
        | every(followed, RIGHT)
        | BOARD
    )
    moved = deployment.lake.read("score.drift", "all")
    assert "amemgym_small" in {row.domain for row in moved}
    assert any(change.startswith("simulator: player (") for row in moved for change in row.changes)
    [check] = deployment.served.ask("LastCheck", asset={"path": ["score", "drift"]}, check="warning_rules")
    assert check["evaluation"]["success"] == (not any(row.moved for row in moved))
    after = deployment.contents()
    changed = {where for where in after if after[where] != before[where]}
    assert ("amemgym_small", "state.variables") in changed
    assert ("memorybench_demo", "feedback.sessions") not in changed, "so its dependents stay"
