"""The memories with facts in their keys: how facts and value are joined, and units without facts."""

from typing import Any

import pytest
from longmemeval_rows import SESSIONS, write
from memory_helpers import build, requests

from memflow.benchmarks.longmemeval.answers import Facts
from memflow.benchmarks.longmemeval.facts import DenseFactIndex, FactIndex

VALUE = "I sold the bicycle."
KEYS = {"merge": f"A fact. Another. {VALUE}", "replace": "A fact. Another."}
FACTS = {"facts": Facts(facts=["A fact.", "Another."])}


@pytest.mark.parametrize("join", KEYS)
async def test_facts_join_the_embedded_keys_as_the_parameter_says(join: str) -> None:
    memory = build(DenseFactIndex, FACTS, join=join)
    await write(memory, SESSIONS[1:])
    embedder: Any = memory.tools.embedder
    assert [texts for texts in embedder.batches if texts] == [[KEYS[join]]]
    recall = await memory.read(KEYS[join])
    assert [item.sources for item in recall.entries] == [("s1/t1a", "s1/t2u", "s1/t3a")]


@pytest.mark.parametrize("memory_class", [FactIndex, DenseFactIndex])
async def test_session_is_found_by_a_fact_that_its_messages_do_not_state(
    memory_class: type[FactIndex],
) -> None:
    def facts(request: Any) -> Facts:
        return Facts(facts=["Owns a penny-farthing."] if "red bicycle" in request.fields["messages"] else [])

    fillers = [[("user", f"Tell me of number {number}.")] for number in "abcde"]
    memory = await write(build(memory_class, {"facts": facts}, k=1), [*SESSIONS, *fillers])
    assert (await memory.read("penny-farthing.")).sources[0] == "s1/t1u"


async def test_one_request_a_unit_has_the_users_text_and_date() -> None:
    memory = build(FactIndex, unit="turn")
    await write(memory)
    texts = [request.fields["messages"] for request in requests(memory, "facts")]
    assert texts == ["I own a red bicycle.", "My cat is called Pebble.", VALUE]


async def test_unit_without_facts_keeps_its_value_and_the_failure_is_an_entry() -> None:
    memory = build(FactIndex, {"facts": "no JSON"}, join="replace")
    await write(memory, SESSIONS[1:2])
    assert len((await memory.read(VALUE)).entries) == 1
    [failure] = memory.store.live("failure")
    assert failure.text.endswith("its facts are missing in the keys")
