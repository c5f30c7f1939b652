"""Chunking of contexts per memory (paper, A.3.2): no chunk boundary loses or duplicates a message."""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_helpers import give
from profiles import examples

from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextMessage
from memflow.benchmarks.comem.turns import make_turns
from memflow.benchmarks.episodes import given_episodes
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Memory, Tools
from memflow.memories.registry import memory_factory
from memflow.run.play import Event

ARRIVALS = ("message", "pair", "tokens", "session")
COVERING = ("full_1000000", "rag_pair", "rag_chunk_30_8_5", "rag_chunk_30_0_5", "embed_message")
"""Memories that are to hold every word that was said."""


@st.composite
def contexts(draw: st.DrawFn) -> Context:
    """Generate a dialogue with a persona, or a script of many speakers, in which every word occurs once."""
    many = draw(st.booleans())
    who = (
        st.sampled_from([("user", "Ann"), ("user", "Bo Li"), ("user", "Cleo")])
        if many
        else st.sampled_from([("user", None), ("assistant", None), ("user", "Persona")])
    )
    lengths = draw(st.lists(st.tuples(who, st.integers(1, 40), st.booleans()), min_size=1, max_size=24))
    lines, session = [], 0
    for place, ((role, speaker), length, begins) in enumerate(lengths):
        session += begins
        words = " ".join(f"w{place}x{number}" for number in range(length))
        lines.append(ContextMessage(words, role, speaker, session, f"day {session}" if many else None))
    return Context("c", "d", tuple(lines), ())


def events(context: Context, arrivals: str, **over: object) -> tuple[Event, ...]:
    parameters = CoMemConfig(arrivals=arrivals, **over)  # type: ignore[arg-type]
    [episode] = given_episodes(list(make_turns("d", context, parameters)))
    return episode.events


def words_of(texts: Sequence[str]) -> Counter[str]:
    return Counter(word for text in texts for word in re.findall(r"w\d+x\d+", text))


async def lived(name: str, come: Sequence[Event], tools: Tools | None = None) -> tuple[Memory, list[int]]:
    memory, sequences = memory_factory(name, tools or Tools(embedder=HashingEmbedder(16)))(EntryStore()), []
    for event in come:
        await give(memory, event.messages)
        sequences.append(memory.store.sequence)
    return memory, sequences


@pytest.mark.parametrize("name", COVERING)
@examples(25)
@given(context=contexts(), arrivals=st.sampled_from(ARRIVALS))
def test_memory_entries_contain_all_messages_after_every_write(name: str, context: Context, arrivals: str):
    come = events(context, arrivals, arrival_tokens=60)
    memory, sequences = asyncio.run(lived(name, come))
    for number, sequence in enumerate(sequences, start=1):
        messages = [message for event in come[:number] for message in event.messages]
        assert sequence == len(messages)
        then = EntryStore.restored(list(memory.store), sequence)
        shown = [item for item in then.live() if item.sources]
        held = Counter(source for item in shown for source in item.sources)
        said = words_of([message.text for message in messages])
        assert set(held) == {message.message_id for message in messages}
        assert set(words_of([item.text for item in shown])) == set(said)
        if not name.startswith("rag_chunk"):
            assert set(held.values()) == {1}
            assert words_of([item.text for item in shown]) == said
