"""AWI: facts from messages that left the buffer, replaced by label, and a policy that can evolve."""

import pytest
from memory_helpers import build, give, requests, said, sources

from memflow.memories.awi.answers import Fact, Facts
from memflow.memories.awi.memory import FACT, Awi, EvolvingAwi
from memflow.memories.entries import EntryStore
from memflow.memories.evolving import POLICY, PolicyStep, policy_step
from memflow.memories.memory import AT_LIMIT, FAILURE

CARS, CATS = (
    PolicyStep(("cars",)),
    PolicyStep(("cars", "cats"), checkpoint=0, changes=("cats",), asked=2, answered=1),
)


async def test_new_fact_replaces_the_fact_with_the_same_label() -> None:
    memory = build(Awi, freq=1, ns=0)
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


async def test_newest_messages_stay_in_the_buffer_and_create_no_facts() -> None:
    memory = build(Awi, freq=2, ns=2)
    await give(memory, said("My car is red.", "My cat is old.", "My dog is young."))
    assert memory.store.live(FACT) == []
    await give(memory, said("My bird is loud.", first=3))
    assert sources(memory, FACT) == [("m0", "m1"), ("m0", "m1")]
    recall = await memory.read("")
    assert [turn.content for turn in recall.messages] == ["My dog is young.", "My bird is loud."]


async def test_update_prompt_contains_known_facts_and_kinds_of_facts() -> None:
    answer = Facts(facts=[Fact(label="pet", value="a cat")])
    memory = build(Awi, {"update": answer}, freq=1, ns=0, kinds=("pets", "cars"))
    await give(memory, said("I have a cat.", "Still."))
    seen = requests(memory)
    assert [request.fields["known"] for request in seen] == ["(nothing yet)", "- pet: a cat"]
    assert "1. pets\n2. cars" in seen[0].messages[0].content
    assert len(memory.store.live(FACT)) == 1


async def test_awi_parameters_limit_answers_and_answers_at_a_limit_are_recorded() -> None:
    answer = '{"facts": [{"label": "pet", "value": "a cat"}, {"label": "job", "value": "baker, of bread"}]}'
    memory = build(Awi, {"update": answer}, freq=1, ns=0, max_text=5, max_items=2)
    await give(memory, said("I bake, and I have a cat."))
    assert [fact.text for fact in memory.store.live(FACT)] == ["- pet: a cat"]
    [reached], [lost] = memory.store.live(AT_LIMIT), memory.store.live(FAILURE)
    assert reached.text == "awi/update: facts has 2 items; awi/update: value has 5 characters"
    assert reached.sources == lost.sources == ("m0",)
    assert (await memory.read("pet")).notes == "- pet: a cat"


async def test_policy_determines_the_kinds_of_facts_that_are_stored() -> None:
    memory = build(EvolvingAwi, freq=1, ns=0, kinds=("cars",))
    memory.follow([CARS])
    await give(memory, said("My car is red.", "My cat is old."))
    memory.store.advance(1)
    memory.follow([CATS])
    await give(memory, said("My cat is older now.", first=2))
    facts = [item.text for item in memory.store.live(FACT)]
    assert facts == ["- car: My car is red.", "- cat: My cat is older now."]
    assert memory.policy == ("cars", "cats")
    assert requests(memory)[-1].fields["kinds"] == "1. cars\n2. cats"

    before = EvolvingAwi(EntryStore.restored(list(memory.store), 2), memory.tools, freq=1, ns=0)
    assert before.policy == ("cars",)
    await give(before, said("My cat is as it was.", first=3))
    assert [item.text for item in before.store.live(FACT)] == ["- car: My car is red."]


def test_failed_evolution_step_does_not_change_the_policy() -> None:
    memory = build(EvolvingAwi, kinds=("pets",))
    assert memory.policy == ("pets",)
    failed = PolicyStep(
        ("cars",), checkpoint=1, asked=2, answered=2, correct=1, completion="d", reason="no JSON"
    )
    memory.follow([CARS, failed, CATS])
    assert [policy_step(item) for item in memory.store] == [CARS, failed, CATS]
    assert [item.kind for item in memory.store.live()] == [FAILURE, POLICY]
    assert memory.policy == ("cars", "cats")
    assert policy_step(memory.store.add(FAILURE, "no JSON", sources=("m0",))) is None
    assert policy_step(memory.store.add(FACT, "- car: red", sources=("m0",), meta={"label": "car"})) is None


@pytest.mark.parametrize(
    ("kinds", "labels"),
    [
        (("sewing",), ["sewing level"]),
        (("Which piece should I sew next?",), ["sewing level"]),
        (("running shoes",), []),
        (("anything else of use",), ["sewing level", "garden time"]),
    ],
)
async def test_scripted_chat_stores_facts_whose_words_match_a_kind(kinds, labels) -> None:
    memory = build(EvolvingAwi, freq=1, ns=0, kinds=kinds)
    await give(memory, said("My sewing level is high.", "My garden time is short."))
    assert [item.meta["label"] for item in memory.store.live(FACT)] == labels
