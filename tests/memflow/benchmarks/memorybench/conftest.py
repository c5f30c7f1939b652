import json
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.api import AssistantResults, States
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
from resources.library import Library


@dataclass
class Walked:
    """A domain up to its feedback, walked by the scripted chat."""

    domain: Domain
    records: list[Record]
    turns: list[Turn]
    probes: list[Probe]
    feedback: list[FeedbackRound]


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
    library = Library(None)
    return MemoryBench().records(library.dataset("memorybench_sample"), library.paths("memorybench_sample"))


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
def read_published() -> Callable[[str], list[Record]]:
    """`read_published(dataset)` reads the published files, or skips the test."""

    def read(name: str) -> list[Record]:
        library = Library(os.environ.get("MEMFLOW_DATA"))
        if not library.found(name):
            pytest.skip(f"set MEMFLOW_DATA to a data folder that has {name}")
        return MemoryBench().records(library.dataset(name), library.paths(name))

    return read


@pytest.fixture
def locomo(read_published: Callable[[str], list[Record]]) -> list[Record]:
    return read_published("locomo")


@pytest.fixture
def read_files(tmp_path: Path) -> Callable[[str, Mapping[str, Any]], list[Record]]:
    """`read_files(dataset, files)` writes texts, bytes or rows (as JSON lines) and reads them."""

    def read(name: str, files: Mapping[str, Any]) -> list[Record]:
        for source, content in files.items():
            path = tmp_path / source
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = (
                [json.dumps(row, ensure_ascii=False) for row in content] if isinstance(content, list) else []
            )
            text = "\n".join(rows) if isinstance(content, list) else content
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        library = Library(tmp_path, {name: replace(registry.datasets()[name], sums={})})
        return MemoryBench().records(library.dataset(name), library.paths(name))

    return read
