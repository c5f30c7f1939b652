import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import memflow
from memflow.benchmarks.api import AssistantResults, States
from memflow.benchmarks.datasets import dataset
from memflow.benchmarks.domains import Domain, find
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.chat.scripted import ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.metrics.backends import MetricBackends
from memflow.records import FeedbackRound, Probe, Record, Reply, Score, Turn
from memflow.run.answer import answer_all
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows
from memflow.scoring.groups import groups_of


@dataclass
class Walked:
    """A domain up to its feedback, walked by the scripted chat."""

    domain: Domain
    records: list[Record]
    turns: list[Turn]
    probes: list[Probe]
    feedback: list[FeedbackRound]


def read(name: str, folder: Path) -> list[Record]:
    known = dataset(name)
    return MemoryBench().records(known, {source: folder / source for source in known.files})


async def walk(domain: Domain, records: list[Record]) -> Walked:
    bench = MemoryBench()
    chat = ScriptedChat(bench.handlers())
    states = await bench.states(domain, records, chat)
    turns = await bench.turns(domain, records, states, chat)
    probes = await bench.probes(domain, records, states, turns, chat)
    return Walked(
        domain, records, turns, probes, await bench.feedback(domain, turns, probes, chat, chat, Tools())
    )


async def score(walked: Walked, memory: str) -> tuple[list[Reply], list[Score]]:
    bench, domain = MemoryBench(), walked.domain
    chat = ScriptedChat(bench.handlers())
    make = memory_factory(memory, Tools(embedder=HashingEmbedder()))
    episodes = bench.episodes(domain, States([], [], []), walked.turns, walked.feedback, chat)
    played = await play_all(episodes, make, None)
    test = [probe for probe in walked.probes if probe.split == "test"]
    pasts = episode_histories(
        entry_rows(domain.name, memory, played), transcript_rows(domain.name, memory, played), test
    )
    replies = await answer_all(bench, domain, memory, test, pasts, make, chat)
    verdicts = await bench.verdicts(domain, walked.probes, replies, MetricBackends(chat))
    measured = AssistantResults(domain.name, memory, memory, "scripted", test, [], [], [], "scripted", True)
    measured = replace(measured, groups=groups_of(verdicts), pool=groups_of(verdicts))
    return replies, bench.scores(domain, measured)


@pytest.fixture
def sample() -> list[Record]:
    return read("memorybench_sample", Path(memflow.__file__).parent)


@pytest.fixture
async def demo(sample: list[Record]) -> Walked:
    return await walk(find("memorybench_demo"), sample)


@pytest.fixture
def walked() -> Callable[[Domain, list[Record]], Awaitable[Walked]]:
    return walk


@pytest.fixture
def scored() -> Callable[[Walked, str], Awaitable[tuple[list[Reply], list[Score]]]]:
    return score


@pytest.fixture
def locomo() -> list[Record]:
    folder = os.environ.get("MEMFLOW_DATA")
    if not folder:
        pytest.skip("set MEMFLOW_DATA to the data folder")
    return read("locomo", Path(folder))


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Any], list[Record]]:
    """Reads what is given as the content of locomo10.json: bytes, or anything JSON can say."""

    def reading(content: Any) -> list[Record]:
        path = tmp_path / "locomo" / "locomo10.json"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return read("locomo", tmp_path)

    return reading
