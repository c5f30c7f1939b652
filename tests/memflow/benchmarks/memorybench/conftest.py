import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import memflow
from memflow.answer import answer_all
from memflow.benchmarks.benchmark import Measured, States
from memflow.benchmarks.memorybench import MemoryBench
from memflow.chat.scripted import ScriptedChat
from memflow.datasets import dataset
from memflow.domains import Domain, find
from memflow.groups import groups_of
from memflow.hashing import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import remember
from memflow.metrics.instruments import Instruments
from memflow.play import play_all
from memflow.records import FeedbackRound, Figure, Probe, Record, Reply, Turn
from memflow.transcripts import entries_of, pasts_of, said_of


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


async def score(walked: Walked, memory: str) -> tuple[list[Reply], list[Figure]]:
    bench, domain = MemoryBench(), walked.domain
    chat = ScriptedChat(bench.handlers())
    make = remember(memory, Tools(embedder=HashingEmbedder()))
    episodes = bench.episodes(domain, States([], [], []), walked.turns, walked.feedback, chat)
    played = await play_all(episodes, make, None)
    test = [probe for probe in walked.probes if probe.split == "test"]
    pasts = pasts_of(entries_of(domain.name, memory, played), said_of(domain.name, memory, played), test)
    replies = await answer_all(bench, domain, memory, test, pasts, make, chat)
    verdicts = await bench.verdicts(domain, walked.probes, replies, Instruments(chat))
    measured = Measured(domain.name, memory, memory, "scripted", test, [], [], [], "scripted", True)
    measured = replace(measured, groups=groups_of(verdicts), pool=groups_of(verdicts))
    return replies, bench.figures(domain, measured)


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
def scored() -> Callable[[Walked, str], Awaitable[tuple[list[Reply], list[Figure]]]]:
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
