"""A simulator changes while a real daemon runs: scores are regenerated, their drift appears, and its check warns.

tests/whole/test_drift.py tests the other shifts, without a daemon.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from drift_settings import SHIFT, write_settings
from served import Served
from served_deployment import SENSOR, ServedDeployment

from memflow.cli.pipeline import Silent, run_pipeline
from memflow.cli.planned_runs import RunRequest
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import load

pytestmark = pytest.mark.daemon

DRIFT = ("", "score/drift")


class DriftDeployment(ServedDeployment):
    """A deployment of the settings in tests/drift_settings.py."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.change()
        self.file = folder / "memflow.toml"
        self.lake = Lake(load(self.file).lake_root)

    def change(self, **models: str) -> None:
        """Write the settings with these models by role."""
        write_settings(self.folder, **models)

    def check(self) -> bool:
        """Return whether the last evaluation of the warning check of score/drift passed."""
        found = self.served.ask("LastCheck", asset={"path": ["score", "drift"]}, check="warning_rules")
        return bool(found[0]["evaluation"]["success"])


def test_daemon_publishes_drift_that_warns_where_scores_moved(
    tmp_path: Path, memflow_dev: Callable[[Path], Served]
) -> None:
    deployment = DriftDeployment(tmp_path)
    request = RunRequest(["generated_users"], ["bm25_message"])
    assert not run_pipeline(load(deployment.file), request, Silent()).failed
    deployment.served = memflow_dev(deployment.file)
    deployment.served.switch_on(SENSOR)
    assert deployment.observe() == [], "models are seen for the first time"

    deployment.change(simulator=SHIFT)
    assert deployment.observe().count(DRIFT) == 1
    (row,) = [
        row
        for row in deployment.lake.read("score.drift", "all")
        if (row.metric, row.slice) == ("accuracy", "all")
    ]
    assert row.moved and row.users == row.difference
    assert not deployment.check()
