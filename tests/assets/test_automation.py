"""Which partitions the sensor requests after a change, tick by tick, on a small graph with memflow's structure."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import pytest

from memflow.assets.automation import upstream_levels

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


class GraphSimulation:
    """Run the graph on a separate instance. Requested partitions are materialized before the next tick."""

    def __init__(self, folder: Path, graph: ModuleType) -> None:
        self.folder = folder
        self.instance = dg.DagsterInstance.ephemeral()
        self.during: Callable[[dg.AssetExecutionContext], None] | None = None
        self.cursor: Any = None
        self.take(graph)

    def take(self, graph: ModuleType) -> None:
        """Replace the definitions, as a reload of the code location does."""
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
        """Return the requests of each tick that requests anything, until no request follows.

        The leaderboard is requested last, in the fourth tick after its inputs.
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
        """Report these events to the instance as materializations and observations."""
        for event in events:
            self.instance.report_runless_asset_event(event)

    def events(self) -> tuple[list[Event], list[Event]]:
        """Return the materialization of every asset and the observation of every model."""
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
def materialized(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event], Any]:
    """Return the folder, the events and the sensor's cursor after everything except NEVER_MADE was materialized."""
    folder = tmp_path_factory.mktemp("toy")
    graph = load_graph()
    (folder / "models.json").write_text(json.dumps(graph.MODELS))
    first = GraphSimulation(folder, graph)
    first.make_all()
    first.observe()
    made, seen = first.events()
    simulation = GraphSimulation(folder, graph)
    simulation.report(made)
    simulation.tick()
    simulation.report(seen)
    assert not simulation.tick() | simulation.tick() | simulation.tick(), (
        "models were seen for the first time"
    )
    return folder, [*made, *seen], simulation.cursor


@pytest.fixture
def simulation(materialized: tuple[Path, list[Event], Any], tmp_path: Path) -> GraphSimulation:
    """Return a simulation on a separate instance, in which the events of `materialized` were reported."""
    folder, events, cursor = materialized
    shutil.copytree(folder, tmp_path / "toy")
    simulation = GraphSimulation(tmp_path / "toy", load_graph())
    simulation.report(events)
    simulation.cursor = cursor
    return simulation


def test_upstream_asset_is_in_the_level_of_its_longest_path() -> None:
    deps = {"board": ["scores", "users"], "scores": ["answers", "users"], "answers": ["users", "model"]}
    assert upstream_levels("board", deps) == [{"scores"}, {"answers"}, {"users", "model"}]


RAG = ["rag@qwen|amemgym_base", "rag@qwen|amemgym_demo", "rag@qwen|memorybench_demo"]


def test_sensor_requests_no_partition_for_an_unchanged_model(simulation: GraphSimulation) -> None:
    simulation.observe()
    assert not simulation.tick()
    assert not simulation.tick()


def test_sensor_requests_regeneration_when_a_model_changes_after_its_first_tick(
    materialized: tuple[Path, list[Event], Any], tmp_path: Path
) -> None:
    """The models were observed before the sensor was ever started, as `memflow run` does."""
    folder, events, _ = materialized
    shutil.copytree(folder, tmp_path / "toy")
    simulation = GraphSimulation(tmp_path / "toy", load_graph())
    simulation.report(events)
    assert not simulation.tick()
    simulation.change(simulator="s2")
    assert simulation.tick() | simulation.tick() == every(["amemgym_demo"], LEFT) | {
        ("memorybench_demo", "feedback/sessions")
    }


def test_sensor_requests_only_partitions_of_a_changed_assistant_model(simulation: GraphSimulation) -> None:
    simulation.change(**{"rag@qwen": "r2"})
    assert simulation.settle() == [every(RAG, RIGHT), BOARD]


def test_sensor_requests_generation_before_evaluation_for_new_simulator(simulation: GraphSimulation) -> None:
    simulation.change(simulator="s2")
    assert simulation.settle() == [
        every(["amemgym_demo"], LEFT) | {("memorybench_demo", "feedback/sessions")},
        every(["bm25|amemgym_base", "rag@qwen|amemgym_base"], RIGHT),
        every(["bm25|amemgym_demo", "rag@qwen|amemgym_demo", "rag@qwen|memorybench_demo"], RIGHT),
        BOARD,
    ]


def test_sensor_requests_no_evaluation_for_identical_simulator_output(simulation: GraphSimulation) -> None:
    """A sensor tick between two observations requests no partition."""
    revised = "s1#another revision"
    simulation.write(simulator=revised)
    version = {"dagster/data_version": revised}
    simulation.report([dg.AssetObservation(["simulator", "states"], partition="amemgym_demo", tags=version)])
    assert not simulation.tick()
    simulation.observe()
    waves = simulation.settle()
    asked = set().union(*waves)
    assert len(asked) == sum(map(len, waves)), "asked for twice"
    assert ("memorybench_demo", "feedback/sessions") in asked
    assert not asked & every(["rag@qwen|memorybench_demo"], RIGHT)
    assert not asked & BOARD


def test_sensor_requests_partition_again_after_model_change_in_a_run(simulation: GraphSimulation) -> None:
    ticks: list[Asked] = []

    def overtake(context: dg.AssetExecutionContext) -> None:
        if context.asset_key.path == ["score", "verdicts"]:
            simulation.during = None
            simulation.change(judge="j3")
            ticks.extend([simulation.tick(), simulation.tick()])

    simulation.during = overtake
    simulation.change(judge="j2")
    verdicts = {("rag@qwen|memorybench_demo", "score/verdicts")}
    assert simulation.settle() == [verdicts, verdicts, BOARD]
    assert ticks == [set(), set()], "asked for while it was being made"


def test_failed_partition_blocks_downstream_requests_until_success(simulation: GraphSimulation) -> None:
    def fail(context: dg.AssetExecutionContext) -> None:
        if context.asset_key.path == ["utterance", "turns"]:
            raise RuntimeError("no such model")

    simulation.during = fail
    simulation.change(simulator="s2")
    made_from_it = every(["bm25|amemgym_demo", "rag@qwen|amemgym_demo"], RIGHT)
    waves = simulation.settle()
    assert every(["amemgym_demo"], LEFT) <= waves[0]
    assert not set().union(*waves) & made_from_it
    assert waves[-1] == BOARD, "one failure holds back the others' figures"

    simulation.during = None
    assert simulation.make("amemgym_demo", {"utterance/turns", "feedback/sessions"})
    assert simulation.settle() == [made_from_it, BOARD]


def test_added_assistant_does_not_make_other_assistants_stale(simulation: GraphSimulation) -> None:
    graph = load_graph()
    graph.assistant = dg.StaticPartitionsDefinition(["bm25", "mem0", "rag@qwen"])
    graph.domain_assistant = dg.MultiPartitionsDefinition(
        {"domain": graph.domain, "assistant": graph.assistant}
    )
    simulation.take(graph)
    simulation.change(mem0="m1")
    assert not simulation.tick()
    assert not simulation.tick()
    simulation.change(mem0="m2", bm25="b2")
    assert simulation.settle() == [every(["bm25|amemgym_base", "bm25|amemgym_demo"], RIGHT), BOARD]
