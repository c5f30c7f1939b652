"""Lives from our own words, tasks of plans on them, and domains that are made of them, for tests of MemBench."""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memflow
from memflow.benchmarks.api import States
from memflow.benchmarks.datasets import dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench import MemBench
from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation import preferences, vocabulary
from memflow.benchmarks.membench.generation.graph_sampling import sample_graph
from memflow.benchmarks.membench.generation.graphs import Graph
from memflow.benchmarks.membench.generation.plans import PlanRequest
from memflow.benchmarks.membench.kinds import KINDS
from memflow.chat.scripted import ScriptedChat
from memflow.records import Probe, Record, Turn


def life(language: str = "en", seed: int = 42, **sizes: int) -> Graph:
    """The first life of a seed."""
    words, likes = vocabulary.bundled_vocabulary(language), preferences.bundled_preferences(language)
    return sample_graph(seed, 0, Parameters(language=language, **sizes), words, likes)


def task_of(
    kind: str, scenario: str, graph: Graph | None = None, seed: int = 0, **parameters: Any
) -> PlanRequest:
    """The task of one trajectory: of a life of that seed where no graph is given."""
    held = Parameters(**parameters)
    graph = graph or life(held.language, seed)
    words, likes = (
        vocabulary.bundled_vocabulary(held.language),
        preferences.bundled_preferences(held.language),
    )
    return PlanRequest(graph, KINDS[kind], scenario, 0, held, words, likes, random.Random(seed))


def tasks(
    kinds: tuple[str, ...], scene: str, language: str, seed: int, graph: Graph | None = None
) -> Iterator[PlanRequest]:
    """A task of each of these kinds and each scenario that it has in the scene."""
    for kind in kinds:
        for scenario in KINDS[kind].scenarios(scene):
            yield task_of(kind, scenario, graph, seed, scene=scene, language=language)


@dataclass(frozen=True)
class Made:
    """A generated domain with its rows up to the probes."""

    domain: Domain
    records: list[Record]
    states: States
    turns: list[Turn]
    probes: list[Probe]


def make(domain: Domain) -> Made:
    """The walk up to the probes, with the scripted chat as simulator."""
    benchmark, folder = MemBench(), Path(memflow.__file__).parent
    chat = ScriptedChat(benchmark.handlers())
    words = [dataset(name) for name in domain.datasets]
    records = [
        record
        for each in words
        for record in benchmark.records(each, {name: folder / name for name in each.files})
    ]

    async def walk() -> Made:
        states = await benchmark.states(domain, records, chat)
        turns = await benchmark.turns(domain, records, states, chat)
        probes = await benchmark.probes(domain, records, states, turns, chat)
        return Made(domain, records, states, turns, probes)

    return asyncio.run(walk())
