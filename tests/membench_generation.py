"""Sampled graphs, planning tasks and generated domains for tests of MemBench's generation."""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memflow
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation.graph_sampling import sample_graph
from memflow.benchmarks.membench.generation.graphs import Graph, Node
from memflow.benchmarks.membench.generation.plans import PlanRequest
from memflow.benchmarks.membench.generation.vocabulary import Language
from memflow.benchmarks.membench.kinds import KINDS
from memflow.benchmarks.registry import find_dataset
from memflow.chat.scripted import ScriptedChat
from memflow.records import Probe, Record, Turn


def life(language: str = "en", seed: int = 42, **sizes: int) -> Graph:
    """Return the first sampled graph of a seed."""
    return sample_graph(seed, 0, Parameters(language=language, **sizes))


def task_of(
    kind: str, scenario: str, graph: Graph | None = None, seed: int = 0, **parameters: Any
) -> PlanRequest:
    """Return the task of one trajectory, on `graph` or on the first graph of `seed`."""
    values = Parameters(**parameters)
    graph = graph or life(values.language, seed)
    return PlanRequest(graph, KINDS[kind], scenario, 0, values, random.Random(seed))


def tasks(
    kinds: tuple[str, ...], scene: str, language: str, seed: int, graph: Graph | None = None
) -> Iterator[PlanRequest]:
    """Yield one task per kind and scenario of the scene."""
    for kind in kinds:
        for scenario in KINDS[kind].scenarios(scene):
            yield task_of(kind, scenario, graph, seed, scene=scene, language=language)


LIKED = {
    "en": {"movie": "Comedy", "food": "Sour", "book": "Poetry"},
    "zh": {"movie": "喜剧片", "food": "酸", "book": "历史"},
}


def preference_task(
    kind: str = "highlevel",
    scenario: str = "movie",
    language: Language = "en",
    seed: int = 0,
    liked: dict[str, str] | None = None,
    **parameters: Any,
) -> PlanRequest:
    """Return a task on a user who likes comedies, sour dishes and poetry, or on one with the preferences `liked`."""
    attributes = LIKED[language] if liked is None else liked
    return PlanRequest(
        graph=Graph("u1", (Node("self", "self", "Ada Berg", "self", attributes),)),
        kind=KINDS[kind],
        scenario=scenario,
        number=0,
        parameters=Parameters.model_validate({"language": language, **parameters}),
        rng=random.Random(seed),
    )


@dataclass(frozen=True)
class Made:
    """A generated domain with its rows up to the probes."""

    domain: Domain
    records: list[Record]
    states: States
    turns: list[Turn]
    probes: list[Probe]


def shipped_records(domain: Domain) -> list[Record]:
    """Return the records of the domain's data sets, all of which the package contains."""
    folder, found = Path(memflow.__file__).parent, []
    for each in map(find_dataset, domain.datasets):
        found += MemBench().records(each, {name: folder / name for name in each.files})
    return found


def make(domain: Domain) -> Made:
    """Run the pipeline up to the probes, with the scripted chat as simulator."""
    benchmark, records = MemBench(), shipped_records(domain)
    chat = ScriptedChat(benchmark.handlers())

    async def run() -> Made:
        states = await benchmark.states(domain, records, chat)
        turns = await benchmark.turns(domain, records, states, chat)
        probes = await benchmark.probes(domain, records, states, turns, chat)
        return Made(domain, records, states, turns, probes)

    return asyncio.run(run())
