"""AWE: newest messages stay in the buffer, and `k` facts of older messages are recalled."""

from memory_helpers import build, give, requests, said, sources

from memflow.memories.awe import Awe
from memflow.memories.mem0.updates import FACT

PETS = said("My car is red.", "My cat is old.", "My dog is young.")


async def test_awe_keeps_the_newest_messages_in_the_buffer_without_extracting_facts() -> None:
    memory = build(Awe, freq=2, ns=2)
    await give(memory, PETS)
    assert memory.store.live(FACT) == []
    await give(memory, said("My bird is loud.", first=3))
    assert sources(memory, FACT) == [("m0",), ("m1",)]
    recall = await memory.read("My cat?")
    assert recall.notes == "My car is red.\nMy cat is old."
    assert [turn.content for turn in recall.messages] == ["My dog is young.", "My bird is loud."]
    assert recall.sources == ("m1", "m0", "m2", "m3")


async def test_awe_returns_the_k_best_facts_with_notes_in_order_of_writing() -> None:
    memory = build(Awe, freq=1, ns=0, k=2)
    await give(memory, PETS)
    await give(memory, said("My car is blue.", first=3))
    recall = await memory.read("My blue car, and the dog")
    assert recall.notes == "My dog is young.\nMy car is blue."  # the car was rewritten after the dog
    assert [item.text for item in recall.entries] == ["My car is blue.", "My dog is young."]


async def test_awe_extraction_prompt_contains_no_summary_or_earlier_messages() -> None:
    memory = build(Awe, freq=2, ns=1)
    await give(memory, [*PETS, *said("Hello.", "Bye.", first=3)])
    seen = [request.fields for request in requests(memory, "extract")]
    assert [fields["messages"] for fields in seen] == [
        "1. user: My car is red.\n2. user: My cat is old.",
        "1. user: My dog is young.\n2. user: Hello.",
    ]
    assert {(fields["summary"], fields["recent"]) for fields in seen} == {("(none)", "(none)")}
