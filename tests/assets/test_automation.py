"""Which partitions are asked for after a change, tick by tick, on a graph of memflow's shape."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import pytest

from assets import automation

GRAPH = Path(__file__).with_name("graph.py")
LEFT = {"feedback/sessions", "question/probes", "state/entities", "utterance/turns"}
RIGHT = {"answer/replies", "memory/indexes", "memory/transcripts", "score/verdicts"}
BOARD = {("", "score/leaderboard")}

Event = dg.AssetMaterialization | dg.AssetObservation
Asked = set[tuple[str, str]]
"""(partition, asset) of each asset asked for in a tick."""


def load_graph() -> ModuleType:
    spec = importlib.util.spec_from_file_location("regeneration_graph", GRAPH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def every(partitions: list[str], assets: set[str]) -> Asked:
    return {(partition, asset) for partition in partitions for asset in assets}


class Walk:
    """The graph on an instance of its own, ticked by hand; what is asked for is made before the next tick."""

    def __init__(self, folder: Path, graph: ModuleType) -> None:
        self.folder = folder
        self.instance = dg.DagsterInstance.ephemeral()
        self.during: Callable[[dg.AssetExecutionContext], None] | None = None
        self.cursor: Any = None
        self.take(graph)

    def take(self, graph: ModuleType) -> None:
        """These definitions from now on, as after a reload of the code location."""
        self.graph = graph
        self.defs = graph.definitions(self.folder, self._interrupt)
        nodes = self.defs.resolve_asset_graph()
        self.assets = {key: nodes.get(key).partitions_def for key in nodes.materializable_asset_keys}
        self.models = sorted(nodes.observable_asset_keys)

    def _interrupt(self, context: dg.AssetExecutionContext) -> None:
        if self.during:
            self.during(context)

    def write(self, **models: str) -> None:
        path = self.folder / "models.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **models}))

    def change(self, **models: str) -> None:
        self.write(**models)
        self.observe()

    def observe(self) -> None:
        for job in ("observe_domains", "observe_assistants"):
            assert self.defs.resolve_job_def(job).execute_in_process(instance=self.instance).success

    def make(self, partition: str, assets: set[str]) -> bool:
        keys = [dg.AssetKey.from_user_string(asset) for asset in sorted(assets)]
        return dg.materialize(
            self.defs.assets or [],
            selection=dg.AssetSelection.assets(*keys),
            partition_key=partition or None,
            instance=self.instance,
            raise_on_error=False,
        ).success

    def make_all(self) -> None:
        for partitions in (self.graph.domain, self.graph.domain_assistant, None):
            assets = {key.to_user_string() for key, shape in self.assets.items() if shape == partitions}
            for partition in partitions.get_partition_keys() if partitions else [""]:
                if partition != self.graph.NEVER_MADE:
                    assert self.make(partition, assets)

    def tick(self) -> Asked:
        result = dg.evaluate_automation_conditions(self.defs, instance=self.instance, cursor=self.cursor)
        self.cursor = result.cursor
        return {
            (partition or "", key.to_user_string())
            for key in self.assets
            for partition in result.get_requested_partitions(key)
        }

    def settle(self) -> list[Asked]:
        """What was asked for in each tick that asked for anything, until nothing more follows.

        The board comes in the fourth tick after what it waits for, and is the last.
        """
        waves: list[Asked] = []
        quiet = 0
        while quiet < (1 if waves and waves[-1] == BOARD else 4):
            asked = self.tick()
            quiet = 0 if asked else quiet + 1
            waves += [asked] if asked else []
            for partition in sorted({partition for partition, _ in asked}):
                self.make(partition, {asset for of, asset in asked if of == partition})
        return waves

    def report(self, events: list[Event]) -> None:
        """Take these for made and observed."""
        for event in events:
            self.instance.report_runless_asset_event(event)

    def events(self) -> tuple[list[Event], list[Event]]:
        """What says of every asset that it was made, and of every model that it was observed."""
        made = [
            dg.AssetMaterialization(key, partition=event.partition, tags=event.tags)
            for key in self.assets
            for record in self.instance.fetch_materializations(key, limit=100).records
            if (event := record.asset_materialization)
        ]
        seen = [
            dg.AssetObservation(key, partition=event.partition, tags=event.tags)
            for key in self.models
            for record in self.instance.fetch_observations(key, limit=100).records
            if (event := record.asset_observation)
        ]
        return made, seen


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event], Any]:
    """All made once but NEVER_MADE, and then, with the sensor on, every model seen: the folder, the events, and
    the sensor's cursor, which counts events."""
    folder = tmp_path_factory.mktemp("toy")
    graph = load_graph()
    (folder / "models.json").write_text(json.dumps(graph.MODELS))
    first = Walk(folder, graph)
    first.make_all()
    first.observe()
    made, seen = first.events()
    walk = Walk(folder, graph)
    walk.report(made)
    walk.tick()
    walk.report(seen)
    assert not walk.tick() | walk.tick() | walk.tick(), "models were seen for the first time"
    return folder, [*made, *seen], walk.cursor


@pytest.fixture
def walk(made: tuple[Path, list[Event], Any], tmp_path: Path) -> Walk:
    """What was made, on an instance of the test's own."""
    folder, events, cursor = made
    shutil.copytree(folder, tmp_path / "toy")
    walk = Walk(tmp_path / "toy", load_graph())
    walk.report(events)
    walk.cursor = cursor
    return walk


RAG = ["rag@qwen|amemgym_base", "rag@qwen|amemgym_demo", "rag@qwen|memorybench_demo"]


def test_an_unchanged_model_asks_for_nothing(walk: Walk) -> None:
    walk.observe()
    assert not walk.tick()
    assert not walk.tick()


def test_one_of_two_answering_models_leaves_the_other_alone(walk: Walk) -> None:
    walk.change(**{"rag@qwen": "r2"})
    assert walk.settle() == [every(RAG, RIGHT), BOARD]


def test_the_simulator_regenerates_what_it_made_then_what_was_made_from_that(walk: Walk) -> None:
    walk.change(simulator="s2")
    assert walk.settle() == [
        every(["amemgym_demo"], LEFT) | {("memorybench_demo", "feedback/sessions")},
        every(["bm25|amemgym_base", "rag@qwen|amemgym_base"], RIGHT),
        every(["bm25|amemgym_demo", "rag@qwen|amemgym_demo", "rag@qwen|memorybench_demo"], RIGHT),
        BOARD,
    ]


def test_what_a_new_model_made_alike_changes_nothing_further(walk: Walk) -> None:
    """A tick falls between two looks, too, and asks for nothing by halves."""
    revised = "s1#another revision"
    walk.write(simulator=revised)
    version = {"dagster/data_version": revised}
    walk.report([dg.AssetObservation(["simulator", "states"], partition="amemgym_demo", tags=version)])
    assert not walk.tick()
    walk.observe()
    waves = walk.settle()
    asked = set().union(*waves)
    assert len(asked) == sum(map(len, waves)), "asked for twice"
    assert ("memorybench_demo", "feedback/sessions") in asked
    assert not asked & every(["rag@qwen|memorybench_demo"], RIGHT)
    assert not asked & BOARD


def test_a_model_that_changes_during_a_run_is_not_taken_for_settled(walk: Walk) -> None:
    ticks: list[Asked] = []

    def overtake(context: dg.AssetExecutionContext) -> None:
        if context.asset_key.path == ["score", "verdicts"]:
            walk.during = None
            walk.change(judge="j3")
            ticks.extend([walk.tick(), walk.tick()])

    walk.during = overtake
    walk.change(judge="j2")
    verdicts = {("rag@qwen|memorybench_demo", "score/verdicts")}
    assert walk.settle() == [verdicts, verdicts, BOARD]
    assert ticks == [set(), set()], "asked for while it was being made"


def test_nothing_is_made_from_what_failed_until_it_is_mended(walk: Walk) -> None:
    def fail(context: dg.AssetExecutionContext) -> None:
        if context.asset_key.path == ["utterance", "turns"]:
            raise RuntimeError("no such model")

    walk.during = fail
    walk.change(simulator="s2")
    made_from_it = every(["bm25|amemgym_demo", "rag@qwen|amemgym_demo"], RIGHT)
    waves = walk.settle()
    assert every(["amemgym_demo"], LEFT) <= waves[0]
    assert not set().union(*waves) & made_from_it
    assert waves[-1] == BOARD, "one failure holds back the others' figures"

    walk.during = None
    assert walk.make("amemgym_demo", {"utterance/turns", "feedback/sessions"})
    assert walk.settle() == [made_from_it, BOARD]


def test_a_new_assistant_leaves_the_others_alone(walk: Walk) -> None:
    graph = load_graph()
    graph.assistant = dg.StaticPartitionsDefinition(["bm25", "mem0", "rag@qwen"])
    graph.domain_assistant = dg.MultiPartitionsDefinition(
        {"domain": graph.domain, "assistant": graph.assistant}
    )
    walk.take(graph)
    walk.change(mem0="m1")
    assert not walk.tick()
    assert not walk.tick()
    walk.change(mem0="m2", bm25="b2")
    assert walk.settle() == [every(["bm25|amemgym_base", "bm25|amemgym_demo"], RIGHT), BOARD]


def test_the_sensor_is_stopped_by_default() -> None:
    sensor = automation.regeneration(30)
    assert sensor.default_status is dg.DefaultSensorStatus.STOPPED
    assert "Stopped by default" in (sensor.description or "")
