"""A model changes while a real daemon runs: what is made anew, and what is left alone."""

import importlib.util
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import pytest

pytestmark = pytest.mark.daemon

GRAPH = Path(__file__).parent / "graph.py"
SENSOR = "regenerate_what_changed"
QUIET = 4
"""So many ticks without a request, and no run under way: nothing more can follow from a change."""

UNDER_WAY = {"QUEUED", "NOT_STARTED", "MANAGED", "STARTING", "STARTED", "CANCELING"}
LEFT = {"feedback/sessions", "question/probes", "state/profiles", "utterance/turns"}
RIGHT = {"answer/replies", "memory/indexes", "memory/transcripts", "score/verdicts"}
BOARD = {("", "score/leaderboard")}

Made = list[tuple[str, str]]
"""(partition, asset) of each asset that a run was asked to make, sorted; twice where it was made twice."""


def every(partitions: list[str], assets: set[str]) -> set[tuple[str, str]]:
    return {(partition, asset) for partition in partitions for asset in assets}


@pytest.fixture
def graph() -> ModuleType:
    spec = importlib.util.spec_from_file_location("regeneration_graph", GRAPH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Deployment:
    """The graph, everything in it made once but for one partition, with its daemon and its sensor on."""

    def __init__(self, served: Any, folder: Path, models: dict[str, str]) -> None:
        self.served = served
        self.folder = folder
        self.models = models

    def change(self, **models: str) -> None:
        self.models.update(models)
        (self.folder / "models.json").write_text(json.dumps(self.models))

    def observe(self, while_off: bool = False) -> Made:
        """Look at the models, wait until nothing more follows, and return what was made.

        `while_off` looks while the sensor is off, and switches it on again afterwards.
        """
        seen = {run["runId"] for run in self.served.runs()}
        if while_off:
            self.served.switch_off(SENSOR)
        launched = {self.served.launch(job) for job in ("observe_domains", "observe_assistants")}
        self._wait("the observation", lambda runs: all(run["status"] == "SUCCESS" for run in runs), launched)
        if while_off:
            time.sleep(15)
            assert {run["runId"] for run in self.served.runs()} == seen | launched, "the sensor is off"
            self.served.switch_on(SENSOR)
        self.settle()
        followed = [run for run in self.served.runs() if run["runId"] not in seen | launched]
        assert all(run["status"] == "SUCCESS" for run in followed), followed
        assert all(run["tags"]["memflow/reason"] == "upstream-changed" for run in followed), followed
        return sorted(
            (run["tags"].get("dagster/partition", ""), "/".join(asset["path"]))
            for run in followed
            for asset in run["assetSelection"]
        )

    def settle(self) -> None:
        since = time.time()

        def settled() -> bool:
            nonlocal since
            if any(run["status"] in UNDER_WAY for run in self.served.runs()):
                since = time.time()
            ticks = [tick for tick in self.served.ticks(SENSOR) if tick["timestamp"] > since]
            quiet = [tick for tick in ticks if not tick["runIds"]]
            return len(quiet) == len(ticks) >= QUIET

        self._until("the daemon to be quiet", settled)

    def _wait(self, what: str, holds: Callable[[list[Any]], bool], among: set[str]) -> None:
        self._until(what, lambda: holds([run for run in self.served.runs() if run["runId"] in among]))

    @staticmethod
    def _until(what: str, holds: Callable[[], bool], patience: float = 600) -> None:
        until = time.monotonic() + patience
        while not holds():
            assert time.monotonic() < until, f"waited {patience:.0f} s for {what}"
            time.sleep(1)


@pytest.fixture
def deployment(
    graph: ModuleType,
    tmp_path: Path,
    dagster_dev: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Deployment]:
    home, folder = tmp_path / "home", tmp_path / "toy"
    home.mkdir()
    folder.mkdir()
    (home / "dagster.yaml").write_text(
        "telemetry: {enabled: false}\nconcurrency: {runs: {max_concurrent_runs: 2}}\n"
    )
    (folder / "models.json").write_text(json.dumps(graph.MODELS))
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with dg.DagsterInstance.get() as instance:
        for partitions, groups in graph.SHAPES:
            for partition in partitions.get_partition_keys() if partitions else [None]:
                if partition != graph.NEVER_MADE:
                    assert dg.materialize(
                        graph.definitions(folder).assets,
                        selection=dg.AssetSelection.groups(*groups),
                        partition_key=partition,
                        instance=instance,
                    ).success
    served = dagster_dev(GRAPH, home, REGENERATION_TOY=str(folder))
    served.switch_on(SENSOR)
    deployment = Deployment(served, folder, dict(graph.MODELS))
    deployment.settle()
    yield deployment


def test_a_changed_model_regenerates_what_depends_on_it_and_nothing_else(deployment: Deployment) -> None:
    assert deployment.observe() == [], "seen for the first time"
    assert deployment.observe() == [], "unchanged"

    deployment.change(**{"rag@qwen": "r2"})
    rag = ["rag@qwen|amemgym_base", "rag@qwen|amemgym_demo", "rag@qwen|memorybench_demo"]
    assert deployment.observe() == sorted(every(rag, RIGHT) | BOARD), "one of two answering models"

    deployment.change(simulator="s2")
    assert deployment.observe() == sorted(
        every(["amemgym_demo"], LEFT)
        | every(["memorybench_demo"], {"feedback/sessions"})
        | every(["bm25|amemgym_base", "bm25|amemgym_demo", *rag], RIGHT)
        | BOARD
    )

    deployment.change(judge="j2")
    assert deployment.observe() == sorted({("rag@qwen|memorybench_demo", "score/verdicts")} | BOARD)
    assert deployment.observe() == [], "unchanged since"


def test_what_changed_while_the_sensor_was_off_is_caught_up(deployment: Deployment) -> None:
    assert deployment.observe() == []
    deployment.change(judge="j2")
    made = deployment.observe(while_off=True)
    assert made == sorted({("rag@qwen|memorybench_demo", "score/verdicts")} | BOARD)
