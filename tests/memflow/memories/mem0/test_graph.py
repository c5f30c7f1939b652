"""Mem0^g: merged nodes, contradicted relations, and recall through nodes."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pytest
from memory_helpers import build, give, requests, said

from memflow.chat.requests import ChatRequest
from memflow.memories.entries import Vector
from memflow.memories.mem0.answers import Entities, Entity, Facts, Names, Obsolete, Relation, Relations
from memflow.memories.mem0.graph import Mem0Graph
from memflow.memories.mem0.triplets import ENTITY, RELATION
from memflow.memories.memory import FAILURE


class Named:
    """An embedder with one vector per first known word. `Al` and `Alice` have cosine 0.96; all others have 0."""

    fingerprint = "named"
    dimensions = 8
    words: ClassVar[dict[str, int]] = {"Alice": 0, "Acme": 1, "Beta": 2, "Bob": 3, "Paris": 4}

    async def embed(self, texts: Sequence[str], input_type: str | None = None) -> Vector:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            first = text.split()[0] if text else ""
            if first == "Al":
                vectors[row, 0], vectors[row, 7] = 0.96, 0.28
            else:
                vectors[row, self.words.get(first, 6)] = 1.0
        return vectors


def entities(request: ChatRequest) -> Entities:
    ends = [end for words in _words(request) for end in (words[0], words[-1])]
    return Entities(entities=[Entity(name=name, type="thing") for name in dict.fromkeys(ends)])


def relations(request: ChatRequest) -> Relations:
    """Read `Al works at Acme` as a triplet of the first word, the middle and the last word."""
    listed = request.fields["entities"].splitlines()
    number = {line.split()[1]: at for at, line in enumerate(listed, 1)}
    found = [
        Relation(source=number[first], relation=" ".join(middle), target=number[last], messages=[message])
        for message, (first, *middle, last) in enumerate(_words(request), 1)
    ]
    return Relations(relations=found)


def _words(request: ChatRequest) -> list[list[str]]:
    return [line.partition(": ")[2].split() for line in request.fields["messages"].splitlines()]


def graph(
    *, obsolete: Sequence[int] = (), names: Sequence[str] = (), answers=None, **parameters
) -> Mem0Graph:
    usual = {
        "extract": Facts(facts=[]),
        "entities": entities,
        "relations": relations,
        "resolve": Obsolete(obsolete=list(obsolete)),
        "identify": Names(names=list(names)),
    }
    return build(Mem0Graph, {**usual, **(answers or {})}, Named(), **parameters)


async def test_similar_entity_names_share_the_node_of_the_first_name() -> None:
    memory = graph()
    await give(memory, said("Alice works at Acme", sent_at="8 May 2023"))
    await give(memory, said("Al lives in Paris", first=1, sent_at="9 May 2023"))
    nodes = {node.text: node.entry_id for node in memory.store.live(ENTITY)}
    assert list(nodes) == ["Alice", "Acme", "Paris"]
    works, lives = memory.store.live(RELATION)
    assert works.text == "[8 May 2023] Alice -- works at -> Acme"
    assert lives.text == "[9 May 2023] Alice -- lives in -> Paris"
    assert works.meta["source"] == lives.meta["source"] == nodes["Alice"]
    assert (works.sources, lives.sources) == (("m0",), ("m1",))


@pytest.mark.parametrize(
    ("same", "names"), [(0.97, ["Alice", "Acme", "Al", "Paris"]), (0.9, ["Alice", "Acme", "Paris"])]
)
async def test_similar_entity_names_in_one_write_share_a_node(same: float, names: list[str]) -> None:
    memory = graph(same=same)
    await give(memory, said("Alice works at Acme", "Al lives in Paris"))
    assert [node.text for node in memory.store.live(ENTITY)] == names


async def test_new_relation_retires_the_contradicted_relation() -> None:
    memory = graph(obsolete=[1])
    await give(memory, said("Alice works at Acme", "Bob lives in Paris"))
    assert requests(memory, "resolve") == []  # nothing was stored that could contradict
    await give(memory, said("Al works at Beta", first=2))
    # Bob's relation has no node in common with the new one, and is not offered.
    [asked] = requests(memory, "resolve")
    assert asked.fields == {"old": "1. Alice -- works at -> Acme", "new": "1. Alice -- works at -> Beta"}
    assert [item.text for item in memory.store.live(RELATION)] == [
        "Bob -- lives in -> Paris",
        "Alice -- works at -> Beta",
    ]
    [old] = [item for item in memory.store if item.kind == RELATION and item.until is not None]
    assert (old.text, old.until) == ("Alice -- works at -> Acme", 3)


async def test_repeated_relation_merges_the_sources_of_both_messages() -> None:
    memory = graph()
    await give(memory, said("Alice works at Acme"))
    await give(memory, said("Al works at Acme", first=1))
    [relation] = memory.store.live(RELATION)
    assert relation.sources == ("m0", "m1") and requests(memory, "resolve") == []  # it contradicts nothing


async def test_read_returns_relations_of_an_entity_named_in_the_query() -> None:
    memory = graph(names=["Acme"])
    await give(memory, said("Alice works at Acme", "Bob lives in Paris"))
    # The query's own vector is like no relation's; the node it names is the target of one.
    recall = await memory.read("Who is at Acme?")
    assert recall.notes == "Alice -- works at -> Acme"
    assert recall.sources == ("m0",)


async def test_read_lists_a_limited_number_of_relations_after_the_facts() -> None:
    memory = build(Mem0Graph, relations=1, relevant=-1.0)
    await give(memory, said("My car is red.", "My cat is old."))
    recall = await memory.read("car")
    assert recall.notes.splitlines() == ["My car is red.", "My cat is old.", "user -- car -> red"]
    # Nearest first, whichever kind: "car" is nearer to what is said of it than the cat is.
    assert [item.kind for item in recall.entries] == ["fact", RELATION, "fact"]


async def test_invalid_resolution_is_recorded_as_failure_and_changes_no_relation() -> None:
    memory = graph(obsolete=[7])
    await give(memory, said("Alice works at Acme"))
    held = memory.store.live(RELATION, ENTITY)
    await give(memory, said("Alice works at Beta", first=1))
    assert memory.store.live(RELATION, ENTITY) == held
    [lost] = memory.store.live(FAILURE)
    assert lost.sources == ("m1",) and "there is no old relation 7; the last is 1" in lost.text
