"""Self-controlled memory: the controller decides between flash memory, summaries and full messages."""

from collections.abc import Sequence

import numpy as np
import pytest
from memory_helpers import build, give, requests, said

from memflow.errors import RecallFailed
from memflow.memories.access import ACCESS
from memflow.memories.entries import Vector
from memflow.memories.sc_memory.answers import Activation, Sufficiency, Summary
from memflow.memories.sc_memory.memory import MESSAGE, SUMMARY, ScMemory


def sc_memory(needed: bool, sufficient: bool = False, embedder=None, answers=None, **parameters) -> ScMemory:
    """Return a memory with a constant controller and summaries in capital letters."""
    constant = {
        "summarise": lambda request: Summary(summary=request.fields["message"].upper()),
        "activate": Activation(needed=needed),
        "suffice": Sufficiency(sufficient=sufficient),
    }
    return build(ScMemory, {**constant, **(answers or {})}, embedder, **parameters)


SAID = said("My cat is Tom.", "My dog is Rex.", "It rains.", "It snows.")


async def test_read_sends_no_request_if_all_messages_are_in_flash_memory() -> None:
    memory = sc_memory(True, flash=3)
    assert (await memory.read("cat")).entries == ()
    await give(memory, SAID[:3])
    recall = await memory.read("cat")
    assert [turn.content for turn in recall.messages] == [message.text for message in SAID[:3]]
    assert recall.sources == ("m0", "m1", "m2") and not memory.store.live(MESSAGE, SUMMARY)
    assert requests(memory) == []
    await give(memory, SAID[3:])
    [message, summary] = memory.store.live(MESSAGE, SUMMARY)
    assert (message.sources, summary.sources) == (("m0",), ("m0",))


async def test_read_returns_only_flash_memory_if_the_controller_needs_no_more() -> None:
    memory = sc_memory(False, flash=2)
    await give(memory, SAID)
    recall = await memory.read("cat")
    assert [turn.content for turn in recall.messages] == ["It rains.", "It snows."]
    assert (recall.notes, recall.sources) == ("", ("m2", "m3"))
    assert requests(memory, "suffice") == []


async def test_controller_decides_whether_read_returns_summaries_or_full_messages() -> None:
    memory, full = sc_memory(True, True, flash=2), sc_memory(True, flash=2)
    for each in (memory, full):
        await give(each, SAID)
    short = await memory.read("My cat?")
    assert short.notes.splitlines() == ["USER: MY CAT IS TOM.", "USER: MY DOG IS REX."]
    assert [item.kind for item in short.entries] == [SUMMARY, SUMMARY, "flash", "flash"]
    assert short.sources == ("m0", "m1", "m2", "m3")  # the cat is nearer than the dog, though older
    [request] = requests(memory, "suffice")
    flash = "user: It rains.\nuser: It snows."
    assert request.fields == {"flash": flash, "summaries": short.notes, "query": "My cat?"}
    recall = await full.read("My cat?")
    assert recall.notes.splitlines() == ["user: My cat is Tom.", "user: My dog is Rex."]
    assert [item.kind for item in recall.entries] == [MESSAGE, MESSAGE, "flash", "flash"]
    assert recall.messages == short.messages


class Compass:
    """An embedder with a cosine of 1 between the cat and the query, and 0.6 between them and the rest."""

    fingerprint, dimensions = "compass", 2

    async def embed(self, texts: Sequence[str], input_type: str | None = None) -> Vector:
        return np.asarray([(1, 0) if "cat" in text else (0.6, 0.8) for text in texts], np.float32)


async def test_recency_decays_with_each_message_and_is_added_to_relevance() -> None:
    memory = sc_memory(True, embedder=Compass(), flash=1, k=1, decay=0.5)
    await give(memory, SAID)
    # Sequence number 4: the cat 0.5^3 + 1 = 1.125, the dog 0.5^2 + 0.6 = 0.85, the rain 0.5 + 0.6 = 1.1.
    assert (await memory.read("cat")).entries[0].sources == ("m0",)
    await give(memory, said("It hails.", first=4))
    # Tick 5: the cat 0.5^4 + 1 = 1.0625, the snow 0.5 + 0.6 = 1.1.
    assert (await memory.read("cat")).entries[0].sources == ("m3",)
    memory.k = 5
    assert [item.sources[0] for item in (await memory.read("cat")).entries] == ["m3", "m0", "m2", "m1", "m4"]


async def test_read_refreshes_recency_of_activated_messages_unless_frozen() -> None:
    memory = sc_memory(True, embedder=Compass(), flash=1, k=1, decay=0.5)
    await give(memory, SAID)
    await memory.read("cat")
    assert not memory.store.live(ACCESS)
    for _ in range(2):
        await memory.read("cat", frozen=False)
    assert [(access.since, access.sources) for access in memory.store.live(ACCESS)] == [(4, ()), (4, ())]
    await give(memory, said("It hails.", first=4))
    # Tick 5: the cat 0.5 + 1 = 1.5 now, and no longer 1.0625.
    assert (await memory.read("cat")).entries[0].sources == ("m0",)


@pytest.mark.parametrize("stem", ["activate", "suffice"])
async def test_unparsed_controller_answer_raises_recall_failed_and_changes_nothing(stem: str) -> None:
    memory = sc_memory(True, answers={stem: "YES, I think"}, flash=1)
    await give(memory, SAID)
    before = memory.store.version
    with pytest.raises(RecallFailed, match=f"sc_memory/{stem}"):
        await memory.read("cat", frozen=False)
    assert memory.store.version == before
