"""Every system that ships, on both demos: it plays, it is asked, and what it held is what it answers from.

At every checkpoint the living memory is read with every probe's query. Afterwards the tables are taken for what they
are, rows of transcripts and entries: a memory restored from them has to recall the same, vectors apart.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import pytest
from generated import Generated, generate
from memory_helpers import case

from memflow.benchmarks.api import Benchmark
from memflow.benchmarks.domains import Domain
from memflow.chat.scripted import ScriptedChat
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import FAILURE, Memory, Recall, Tools
from memflow.memories.registry import memory_factory
from memflow.memories.systems import SYSTEMS
from memflow.records import Probe
from memflow.run.answer import answer_all
from memflow.run.handlers import handlers
from memflow.run.play import Episode, PlayedEpisode, play
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

DEMOS = ("amemgym_demo", "memorybench_demo")
CHAT = ScriptedChat(handlers())
TOOLS = Tools(CHAT, HashingEmbedder())


@dataclass
class Lived:
    """What a memory played, and what it recalled while it lived: probe to Recall."""

    played: list[PlayedEpisode]
    recalls: dict[str, Recall]


@cache
def users(name: str) -> tuple[Benchmark, Generated]:
    """A demo domain up to its probes, as the scripted chat makes it."""
    made = generate(name, 1 if name == "amemgym_demo" else 0)
    return made.benchmark, made


def query(bench: Benchmark, domain: Domain, probe: Probe) -> str:
    return bench.question(domain, probe, Recall(), None).query


async def live(bench: Benchmark, made: Generated, probes: Sequence[Probe], name: str) -> Lived:
    """Play the episodes checkpoint by checkpoint, and read the living memory at each."""
    new, lived = memory_factory(name, TOOLS), Lived([], {})
    replier = bench.replier(made.domain, CHAT)
    stores: dict[str, EntryStore] = {}
    for episode in bench.episodes(made.domain, made.states, made.turns, made.feedback, CHAT):
        memory: Memory = new(stores[episode.base].fork() if episode.base else EntryStore())
        stores[episode.episode_id] = memory.store
        lines = []
        for checkpoint, events in groupby(episode.events, key=lambda event: event.checkpoint):
            part = await play(Episode(episode.episode_id, tuple(events)), memory, replier)
            lines += part.lines
            for probe in probes:
                if (probe.episode_id, probe.checkpoint) == (episode.episode_id, checkpoint):
                    lived.recalls[probe.probe_id] = await memory.read(query(bench, made.domain, probe))
        lived.played.append(PlayedEpisode(episode.episode_id, lines, memory.store))
    return lived


@pytest.mark.parametrize("demo", DEMOS)
@pytest.mark.parametrize(
    "name", [case(system, name) for name, system in SYSTEMS.items() if system.memory.needs_playing]
)
def test_what_is_restored_from_the_tables_answers_as_what_lived(name: str, demo: str) -> None:
    asyncio.run(_restored(name, demo, *users(demo)))


async def _restored(name: str, demo: str, bench: Benchmark, made: Generated) -> None:
    probes = [probe for probe in made.probes if probe.split == "test"]
    lived = await live(bench, made, probes, name)
    entries, said = entry_rows(demo, name, lived.played), transcript_rows(demo, name, lived.played)
    assert not [line for line in said if line.reason is not None]
    assert not [entry for entry in entries if entry.kind == FAILURE]
    assert len(lived.recalls) == len(probes)

    pasts, new = episode_histories(entries, said, probes), memory_factory(name, TOOLS)
    for probe in probes:
        memory = new(pasts[probe.episode_id].at(probe.checkpoint))
        assert await memory.read(query(bench, made.domain, probe)) == lived.recalls[probe.probe_id]

    replies = await answer_all(bench, made.domain, name, probes, pasts, new, CHAT)
    assert all(reply.parsed is not None for reply in replies)
    for reply in replies:
        recall = lived.recalls[reply.probe_id]
        assert (reply.recalled, reply.injected_tokens) == (
            [item.entry_id for item in recall.entries],
            recall.injected_tokens,
        )
        ranked = recall.ranked[:10] if SYSTEMS[name].memory.ranks_entries else ()
        assert reply.ranked == [item.entry_id for item in ranked]


@pytest.mark.parametrize(
    "name", [case(system, name) for name, system in SYSTEMS.items() if system.memory.recalls_entries]
)
def test_every_system_recalls_something_that_leads_to_messages(name: str) -> None:
    """Provenance: of everything recalled on a demo, all names messages that were said."""
    bench, made = users("amemgym_demo")
    probes = [probe for probe in made.probes if probe.split == "test"]
    lived = asyncio.run(live(bench, made, probes, name))
    said = {line.message.message_id for played in lived.played for line in played.lines}
    found = [item for recall in lived.recalls.values() for item in recall.entries]
    assert found
    assert all(item.sources and said.issuperset(item.sources) for item in found)
    assert not {item.kind for item in found} & SYSTEMS[name].memory.bookkeeping_kinds
