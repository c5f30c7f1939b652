"""A model changes in memflow.toml while a real daemon runs: which partitions are regenerated.

The requests of each tick are tested in tests/assets/test_automation.py.
"""

from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

import pytest
from served import Served
from served_deployment import SENSOR, ServedDeployment

from memflow.cli.pipeline import Silent, run_pipeline
from memflow.cli.planned_runs import RunRequest
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import load

pytestmark = pytest.mark.daemon

SETTINGS = Template((Path(__file__).parent / "memflow.toml").read_text(encoding="utf-8"))
LEFT = {
    *("state/profiles", "state/variables", "state/changes", "state/entities"),
    *("utterance/turns", "question/keys", "question/probes", "feedback/sessions"),
}
RIGHT = {
    *("memory/transcripts", "memory/indexes", "memory/policies", "memory/feedback"),
    *("answer/replies", "score/verdicts", "score/attributions", "score/claims", "score/health"),
}
BOARD = {("", f"score/{table}") for table in ("comparisons", "drift", "history", "leaderboard")}
MINE, OTHER = "bm25_message", "bm25_message@other"
MADE = {"amemgym_small": (MINE,), "amemgym_base": (MINE, OTHER), "memorybench_demo": (MINE,)}
"""The assistants measured in each domain before anything changes; two of the six partitions are never made."""


def every(partitions: list[str], assets: set[str]) -> set[tuple[str, str]]:
    return {(partition, asset) for partition in partitions for asset in assets}


class Deployment(ServedDeployment):
    """A settings file, and optionally a daemon that uses it."""

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
