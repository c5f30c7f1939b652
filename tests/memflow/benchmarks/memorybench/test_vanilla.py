"""MemoryBench's Vanilla (A.3.2, A.3.3): no memory; on a corpus, the first sessions that fit the context window."""

from collections.abc import Sequence

import pytest
from memory_helpers import said

from memflow.benchmarks.api import States
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.chat.requests import ChatRequest, Completion
from memflow.chat.scripted import ScriptedChat
from memflow.memories.baselines import SESSION, Vanilla
from memflow.memories.entries import EntryStore
from memflow.memories.memory import Memory, Message, Tools
from memflow.memories.registry import memory_factory
from memflow.records import Probe
from memflow.run.answer import answer_all
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows


class RecordedChat(ScriptedChat):
    """The scripted chat with the requests that it received."""

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests = [*getattr(self, "requests", []), request]
        return await super().complete(request)


async def prompts(demo, memory: str, probes: Sequence[Probe]) -> list[str]:
    """Return the text of the request for each probe, after the demo was played with the memory."""
    bench, chat = MemoryBench(), RecordedChat(MemoryBench().handlers())
    make = memory_factory(memory, Tools())
    episodes = bench.episodes(demo.domain, States([], [], []), demo.turns, demo.feedback, chat)
    played = await play_all(episodes, make, None)
    pasts = episode_histories(
        entry_rows(demo.domain.name, memory, played),
        transcript_rows(demo.domain.name, memory, played),
        probes,
    )
    await answer_all(bench, demo.domain, memory, probes, pasts, make, chat)
    return ["\n".join(message.content for message in request.messages) for request in chat.requests]


def of_dataset(demo, dataset: str) -> Probe:
    return next(probe for probe in demo.probes if (probe.dataset, probe.split) == (dataset, "test"))


def sessions(demo) -> list[list[str]]:
    events: dict[int, list[str]] = {}
    for turn in demo.turns:
        events.setdefault(turn.event, []).append(f"{turn.speaker}: {turn.text}")
    return list(events.values())


async def test_prompt_about_a_corpus_has_its_first_sessions_and_no_training_dialogue(demo) -> None:
    probe = of_dataset(demo, "memorybench_sample")
    [whole] = await prompts(demo, "vanilla", [probe])
    [cut] = await prompts(demo, "vanilla_260", [probe])
    texts = sessions(demo)
    assert len(texts) > 2
    assert all(line in whole for session in texts for line in session)
    kept = [all(line in cut for line in session) for session in texts]
    first = kept.index(False)
    assert first > 0
    assert not any(line in cut for session in texts[first:] for line in session)
    assert probe.question in cut
    assert not any(row.user_text in whole for row in demo.feedback)


async def test_prompt_without_a_corpus_is_that_of_no_memory(demo) -> None:
    probes = [
        probe for probe in demo.probes if probe.split == "test" and probe.dataset != "memorybench_sample"
    ]
    assert len(probes) > 3
    assert await prompts(demo, "vanilla", probes) == await prompts(demo, "none", probes)
    assert await prompts(demo, "full", probes) != await prompts(demo, "none", probes)


def conversation(*sizes: int) -> list[list[Message]]:
    """Return sessions of named speakers with as many estimated tokens."""
    return [[Message(f"s{at}", "user", "x" * (4 * size - 3), speaker="A")] for at, size in enumerate(sizes)]


async def filled(memory: Memory, arrivals: Sequence[Sequence[Message]]) -> Memory:
    for messages in arrivals:
        memory.store.advance(len(messages))
        await memory.write(messages)
    return memory


@pytest.mark.parametrize(
    ("budget", "fitting"), [(9, 0), (10, 1), (29, 1), (30, 2), (99, 2), (130, 3), (140, 4)]
)
async def test_sessions_are_a_prefix_that_ends_before_the_first_that_does_not_fit(budget, fitting) -> None:
    memory = await filled(Vanilla(EntryStore(), budget=budget), conversation(10, 20, 100, 10))
    recall = await memory.read("What?")
    assert recall.sources == tuple(f"s{at}" for at in range(fitting))
    assert recall.injected_tokens + recall.dropped_tokens == pytest.approx(140, abs=4)
    assert not recall.messages


async def test_window_limits_the_sessions_and_dialogues_are_not_stored() -> None:
    sized = [*conversation(1_000, 1_000, 1_000), said("I like tea.", "No sugar.")]
    memory = await filled(Vanilla(EntryStore(), Tools(window=5_000)), sized)
    assert (await memory.read("What?")).sources == ("s0", "s1")
    unbounded = await filled(Vanilla(EntryStore()), sized)
    assert (await unbounded.read("What?")).sources == ("s0", "s1", "s2")
    assert len(unbounded.store.live(SESSION)) == 3
