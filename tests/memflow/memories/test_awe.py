"""AWE: newest messages in the buffer, facts of older ones, `k` of them recalled."""

from memory_helpers import give, said

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import ScriptedChat
from memflow.memories.awe import Awe
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.mem0.decisions import FACT
from memflow.memories.memory import FAILURE, Tools
from memflow.memories.registry import find


def awe(chat: ScriptedChat | None = None, **parameters: object) -> Awe:
    tools = Tools(chat=chat or ScriptedChat(Awe.handlers()), embedder=HashingEmbedder())
    return Awe(EntryStore(), tools, **parameters)  # type: ignore[arg-type]


async def test_newest_messages_are_only_in_buffer() -> None:
    memory = awe(freq=2, ns=2)
    await give(memory, said("My car is red.", "My cat is old.", "My dog is young."))
    assert memory.store.live(FACT) == []
    await give(memory, said("My bird is loud.", first=3))
    assert [fact.sources for fact in memory.store.live(FACT)] == [("m0",), ("m1",)]
    recall = await memory.read("My cat?")
    assert recall.notes == "My car is red.\nMy cat is old."
    assert [turn.content for turn in recall.messages] == ["My dog is young.", "My bird is loud."]
    assert recall.sources == ("m1", "m0", "m2", "m3")


async def test_k_facts_are_recalled_in_order_of_writing() -> None:
    memory = awe(freq=1, ns=0, k=2)
    await give(memory, said("My car is red.", "My cat is old.", "My dog is young."))
    await give(memory, said("My car is blue.", first=3))
    recall = await memory.read("My blue car, and the dog")
    # The car was written anew after the dog.
    assert recall.notes == "My dog is young.\nMy car is blue."
    assert [item.text for item in recall.entries] == ["My car is blue.", "My dog is young."]


async def test_extraction_prompt_has_no_summary_or_earlier_messages() -> None:
    seen: list[ChatRequest] = []
    handlers = dict(Awe.handlers())
    extract = handlers["mem0/extract"]
    handlers["mem0/extract"] = lambda request: (seen.append(request), extract(request))[1]
    memory = awe(ScriptedChat(handlers), freq=2, ns=1)
    await give(memory, said("My car is red.", "My cat is old.", "My dog is young.", "Hello.", "Bye."))
    assert [request.fields["messages"] for request in seen] == [
        "1. user: My car is red.\n2. user: My cat is old.",
        "1. user: My dog is young.\n2. user: Hello.",
    ]
    assert {(request.fields["summary"], request.fields["recent"]) for request in seen} == {
        ("(none)", "(none)")
    }


async def test_failed_update_is_recorded() -> None:
    memory = awe(ScriptedChat({"mem0/extract": lambda request: "no JSON"}), freq=1, ns=0)
    await give(memory, said("My car is red."))
    [lost] = memory.store.live()
    assert (lost.kind, lost.sources) == (FAILURE, ("m0",)) and "JSON" in lost.text


def test_name_sets_buffer_and_k() -> None:
    assert {key: find("awe_8_4_10").values[key] for key in ("freq", "ns", "k", "similar")} == {
        "freq": 8,
        "ns": 4,
        "k": 10,
        "similar": 5,
    }
