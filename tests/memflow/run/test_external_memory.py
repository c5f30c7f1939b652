"""The player and memories with state outside their store: which queries they get, and when."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from generated import generate

from memflow.errors import ServerDown
from memflow.memories.entries import EntryStore
from memflow.memories.external import ExternalMemory, asked_at
from memflow.memories.memory import Message, Recall
from memflow.memories.registry import find
from memflow.run.evaluation import episode_queries, reads_probes
from memflow.run.play import Episode, EpisodeQueries, Event, play, play_all


@dataclass
class Diary(ExternalMemory):
    """A memory that records the calls of the player."""

    calls: list[str] = field(default_factory=list)

    async def on_start(self, episode_id: str) -> None:
        self.calls.append(f"start {episode_id}")

    async def on_checkpoint(self, queries: Sequence[str]) -> None:
        self.calls.append(f"{self.store.sequence}: {', '.join(queries)}")

    async def on_end(self, is_base: bool) -> None:
        self.calls.append(f"end {is_base}")

    def on_abort(self) -> None:
        self.calls.append("abort")

    async def write(self, messages: Sequence[Message]) -> None:
        if messages[0].text == "gone":
            raise ServerDown("gone")
        self.calls.append(" ".join(message.message_id for message in messages))

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return Recall()


def given(number: int, checkpoint: int, *names: str, together: int = 0, text: str = "") -> Event:
    messages = tuple(Message(name, "user", text) for name in names)
    return Event(number, checkpoint, "given", messages, together=together)


def calls(episode: Episode, queries: EpisodeQueries) -> list[str]:
    memory = Diary(EntryStore())
    asyncio.run(play(episode, memory, None, queries=queries))
    return memory.calls


def test_queries_come_at_the_end_of_their_checkpoint_before_the_next_write() -> None:
    events = (given(0, 1, "a"), given(1, 1, "b"), given(2, 4, "c"))
    queries = EpisodeQueries({0: ["q0"], 1: ["q1"], 2: ["q2"], 3: ["q3"], 4: ["q4", "q5"], 9: ["q9"]})
    assert calls(Episode("e", events), queries) == [
        "start e",
        "0: q0",
        "a",
        "b",
        "2: q1, q2, q3",
        "c",
        "3: q4, q5, q9",
        "end False",
    ]


def test_queries_after_a_message_come_between_the_writes_around_it() -> None:
    events = (given(0, 0, "a", "b", "c", "d", together=2),)
    queries = EpisodeQueries({0: ["last"]}, {"a": ["in a"], "b": ["after b"], "c": ["in c"]})
    assert calls(Episode("e", events), queries) == [
        "start e",
        "0: in a",
        "a b",
        "2: after b",
        "2: in c",
        "c d",
        "4: last",
        "end False",
    ]


def test_base_is_named_at_its_end_and_each_episode_gets_its_own_queries() -> None:
    memories: list[Diary] = []

    def remember(store: EntryStore) -> Diary:
        memories.append(Diary(store))
        return memories[-1]

    episodes = [Episode("base", (given(0, 0, "a"),)), Episode("e", (given(0, 0, "b"),), base="base")]
    asyncio.run(play_all(episodes, remember, None, queries={"e": EpisodeQueries({0: ["q"]})}))
    assert [memory.calls for memory in memories] == [
        ["start base", "a", "end True"],
        ["start e", "b", "2: q", "end False"],
    ]


def test_memory_is_released_if_its_episode_fails() -> None:
    memory = Diary(EntryStore())
    with pytest.raises(ServerDown):
        asyncio.run(play(Episode("e", (given(0, 0, "a", text="gone"),)), memory, None))
    assert memory.calls == ["start e", "abort"]


def test_only_texts_and_times_of_test_probes_are_handed_over() -> None:
    generated = generate("comem_demo")
    probes = [
        replace(each, asked_at=f"2024-05-{at:02}")
        for at, each in enumerate([each for each in generated.probes if each.split == "test"][:2], 1)
    ]
    quarantined = replace(probes[0], probe_id="q", reason="no gold")
    training = replace(probes[0], probe_id="t", split="train")
    following = replace(probes[1], after="m7")
    found = episode_queries(
        generated.benchmark, generated.domain, [probes[0], quarantined, training, following]
    )
    texts = [
        text
        for queries in found.values()
        for by in (queries.checkpoints, queries.messages)
        for each in by.values()
        for text in each
    ]
    wanted = [generated.benchmark.question(generated.domain, each, Recall(), None).query for each in probes]
    assert sorted(texts) == sorted(wanted)
    assert {asked_at(text) for text in texts} == {probe.asked_at for probe in probes}
    assert found[following.episode_id].messages == {"m7": [wanted[1]]}


@pytest.mark.parametrize("name", ["full", "rag_2_4_30", "awi", "none"])
def test_memories_in_python_do_not_read_probes_during_play(name: str) -> None:
    generated = generate("comem_demo")
    assert not reads_probes(generated.benchmark, generated.domain, find(name))
