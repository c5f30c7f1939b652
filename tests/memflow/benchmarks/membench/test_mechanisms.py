"""The paper's seven mechanisms with the settings of docs/explanation/membench.md: each plays MemBench's steps and
stays within the common budget."""

import asyncio
import tomllib
from pathlib import Path

import pytest
from memory_helpers import give

from memflow.benchmarks.membench.wording import add_stamp
from memflow.chat.scripted import ScriptedChat
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Message, Tools
from memflow.memories.registry import find
from memflow.memories.user_memories import UserMemory
from memflow.run.handlers import handlers
from memflow.tokens import estimate

GUIDE = Path(__file__).parents[4] / "docs" / "explanation" / "membench.md"
BUDGET, STEPS = 1024, 60


def settings():
    """Return the settings block below the heading `The same token budget for every memory`."""
    section = GUIDE.read_text(encoding="utf-8").partition("### The same token budget for every memory")[2]
    return tomllib.loads(section.partition("```toml\n")[2].partition("```")[0])


SETTINGS = settings()
OWN = {name: UserMemory(**given) for name, given in SETTINGS["memories"].items()}
COMPARED = [name for name in SETTINGS["assistants"] if name not in ("none", "oracle", "full")]


def step(number):
    """Return a round with place and time in the format of the data. A day has ten rounds."""
    time = f"'2024-10-{1 + number // 10:02d} 08:{number % 60:02d}' Tuesday"
    words = f"My colleague number {number} is {20 + number} years old, and likes to climb the northern hills."
    reply = f"I shall remember colleague number {number}."
    return [
        Message(f"t/0.{number}u", "user", add_stamp(words, "Boston, MA", time), sent_at=time),
        Message(f"t/0.{number}a", "assistant", add_stamp(reply, "Boston, MA", time), sent_at=time),
    ]


def test_every_memory_mechanism_of_paper_has_a_memory_in_the_settings() -> None:
    for mechanism in ("retrieval", "generative_agent", "memory_bank", "mem_gpt", "sc_memory"):
        assert any(name.startswith(mechanism) for name in COMPARED), mechanism
    assert "full" in SETTINGS["assistants"] and "full_1024" in COMPARED  # FullMemory and RecentMemory
    for name in COMPARED:
        assert find(name, OWN).values["budget"] == BUDGET


@pytest.mark.parametrize("name", COMPARED)
def test_recall_of_each_memory_mechanism_respects_token_budget(name) -> None:
    async def recalled():
        tools = Tools(ScriptedChat(handlers()), HashingEmbedder())
        memory = find(name, OWN).factory(tools)(EntryStore())
        for number in range(STEPS):
            await give(memory, step(number))
        return await memory.read("How old is colleague number 7? ('2024-10-07 08:00' Monday)")

    recall = asyncio.run(recalled())
    said = sum(estimate(message.text) for number in range(STEPS) for message in step(number))
    assert said > 2 * BUDGET
    # What MemGPT looks up comes on top: the 5 entries of a search, which stand first, and a heading.
    looked_up = recall.entries[:5] if name.startswith("mem_gpt") else ()
    room = BUDGET + sum(estimate(item.text) + 5 for item in looked_up)
    assert 0 < recall.injected_tokens <= room
    assert recall.entries
