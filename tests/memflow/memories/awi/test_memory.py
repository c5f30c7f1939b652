"""AWI: facts are added or replaced by label, from messages that left the buffer."""

from memory_helpers import give, said

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import ScriptedChat
from memflow.memories.awi.answers import Fact, Facts
from memflow.memories.awi.memory import FACT, Awi
from memflow.memories.entries import EntryStore
from memflow.memories.memory import FAILURE, Tools


def awi(chat: ScriptedChat, **parameters: object) -> Awi:
    return Awi(EntryStore(), Tools(chat=chat), **parameters)  # type: ignore[arg-type]


async def test_repeated_label_replaces_fact() -> None:
    memory = awi(ScriptedChat(Awi.handlers()), freq=1, ns=0)
    await give(memory, said("My car is red.", "My cat is old."))
    await give(memory, said("My car is blue.", first=2))
    cat, car = memory.store.live(FACT)
    assert (car.text, car.sources, car.since) == ("- car: My car is blue.", ("m2",), 3)
    assert cat.sources == ("m1",)
    old = next(item for item in memory.store if item.kind == FACT)
    assert (old.sources, old.until, car.previous) == (("m0",), 3, old.entry_id)
    recall = await memory.read("anything")
    assert recall.notes.splitlines() == [cat.text, car.text]
    assert recall.sources == ("m2", "m1")


async def test_newest_messages_are_only_in_buffer() -> None:
    memory = awi(ScriptedChat(Awi.handlers()), freq=2, ns=2)
    await give(memory, said("My car is red.", "My cat is old.", "My dog is young."))
    assert memory.store.live(FACT) == []
    await give(memory, said("My bird is loud.", first=3))
    assert [item.sources for item in memory.store.live(FACT)] == [("m0", "m1"), ("m0", "m1")]
    recall = await memory.read("")
    assert [turn.content for turn in recall.messages] == ["My dog is young.", "My bird is loud."]


async def test_update_prompt_has_known_facts_and_kinds() -> None:
    seen: list[ChatRequest] = []

    def update(request: ChatRequest) -> Facts:
        seen.append(request)
        return Facts(facts=[Fact(label="pet", value="a cat")])

    memory = awi(ScriptedChat({"awi/update": update}), freq=1, ns=0, kinds=("pets", "cars"))
    await give(memory, said("I have a cat.", "Still."))
    assert [request.fields["known"] for request in seen] == ["(nothing yet)", "- pet: a cat"]
    assert "1. pets\n2. cars" in seen[0].messages[0].content
    assert len(memory.store.live(FACT)) == 1  # said twice, written once


async def test_failed_update_is_recorded() -> None:
    memory = awi(ScriptedChat({"awi/update": lambda request: "no JSON"}), freq=1, ns=0)
    await give(memory, said("My car is red."))
    [lost] = memory.store.live()
    assert (lost.kind, lost.sources) == (FAILURE, ("m0",)) and "JSON" in lost.text
    assert (await memory.read("car")).entries == ()
