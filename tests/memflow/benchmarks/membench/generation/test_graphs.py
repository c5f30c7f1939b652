"""Sampled graphs: dependent values, unique values, distributions, and their rows."""

from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from statistics import mean, pstdev
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.benchmarks.api import States
from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation import personal_data, preferences, values, vocabulary
from memflow.benchmarks.membench.generation.graph_sampling import AGES, sample_graph
from memflow.benchmarks.membench.generation.graphs import (
    EVENT_ATTRIBUTES,
    ITEM_ATTRIBUTES,
    PERSON_ATTRIBUTES,
    PLACE_ATTRIBUTES,
    Graph,
    Node,
    graph_rows,
    load_graph,
    load_graphs,
    nodes_with,
)
from memflow.benchmarks.membench.generation.vocabulary import MAX_EVENTS, MAX_PEOPLE, Language
from memflow.errors import BadInput

LANGUAGES: tuple[Language, ...] = get_args(Language)


def sampled(language: Language = "en", number: int = 0, seed: int = 42, **sizes: int) -> Graph:
    words, likes = vocabulary.bundled_vocabulary(language), preferences.bundled_preferences(language)
    return sample_graph(seed, number, Parameters(language=language, **sizes), words, likes)


any_graph = st.builds(
    sampled, st.sampled_from(LANGUAGES), st.integers(0, 10_000), st.integers(0, 2**40),
    roles=st.integers(2, MAX_PEOPLE), events=st.integers(2, MAX_EVENTS),
)  # fmt: skip


def vocabulary_of(graph: Graph) -> vocabulary.Vocabulary:
    return vocabulary.bundled_vocabulary("zh" if "岁" in graph.user["age"] else "en")


@given(any_graph)
@examples(100)
def test_names_contacts_and_other_identifying_values_are_unique_in_graph(graph: Graph) -> None:
    people = (graph.user, *graph.roles)
    for nodes, names in (
        (graph.nodes, ("name",)),
        (people, ("relationship", "birthday", "hobby", "character", "position", "phone", "email")),
        (graph.events, ("event_type", "content", "time")),
        (graph.items, ("item_type",)),
        (graph.places, ("place_type",)),
    ):
        for name in names:
            found = [node[name] for node in nodes]
            assert len(set(found)) == len(found), (name, found)


@given(any_graph)
@examples(100)
def test_relatives_share_hometown_and_colleagues_share_job_with_user(graph: Graph) -> None:
    assert {node["hometown"] for node in graph.relatives} == {graph.user["hometown"]}
    for shared in ("work_location", "occupation", "company", "education"):
        assert {node[shared] for node in graph.colleagues} == {graph.user[shared]}


@given(any_graph)
@examples(100)
def test_ages_and_heights_of_sampled_people_are_in_range(graph: Graph) -> None:
    age = values.parse_age(graph.user["age"])
    assert AGES[0] <= age <= AGES[1]
    words = vocabulary_of(graph)
    for node in graph.roles:
        (relation,) = (
            each for each in (*words.relatives, *words.colleagues) if each.name == node.relationship
        )
        low, high = relation.ages
        assert low <= values.parse_age(node["age"]) - age <= high
    assert all(150 <= values.parse_height(node["height"]) <= 190 for node in (graph.user, *graph.roles))


@given(any_graph)
@examples(100)
def test_occupation_of_sampled_person_matches_education_and_position(graph: Graph) -> None:
    words = vocabulary_of(graph)
    for node in (graph.user, *graph.roles):
        occupation = words.occupation(node["occupation"])
        assert node["education"] in occupation.education
        assert node["position"] in occupation.positions + occupation.seniors


@given(any_graph)
@examples(100)
def test_personal_data_in_graph_is_marked_synthetic_and_in_reserved_ranges(graph: Graph) -> None:
    for node in graph.nodes:
        person = node.kind in ("self", "relative", "colleague")
        expected = personal_data.CONTACT_ATTRIBUTES if person else ()
        assert node.synthetic == expected + (personal_data.DOCUMENT_ATTRIBUTES if node.kind == "self" else ())
        assert all(personal_data.is_reserved(name, node[name]) for name in node.synthetic)


@given(any_graph)
@examples(50)
def test_load_graph_returns_graph_from_its_profile_and_entity_rows(graph: Graph) -> None:
    words = vocabulary_of(graph)
    profile, entities = graph_rows(graph, "d", words, date(2024, 10, 1))
    states = States([profile], entities=entities)
    assert load_graph(states, graph.user_id) == graph
    assert load_graphs(states) == [graph]
    assert not any(graph.user[name] in profile.profile for name in graph.user.synthetic)


@pytest.mark.parametrize("language", LANGUAGES)
def test_sampled_graph_has_configured_size_and_all_attributes(language: Language) -> None:
    graph = sampled(language)
    kinds = Counter(node.kind for node in graph.nodes)
    sizes = {
        "self": 1,
        "relative": 4,
        "colleague": 4,
        "work_event": 5,
        "rest_event": 5,
        "item": 4,
        "place": 4,
    }
    assert kinds == sizes
    assert len(graph.roles) == 8 and len(graph.events) == 10
    own = {*PERSON_ATTRIBUTES, *personal_data.DOCUMENT_ATTRIBUTES, *preferences.TOPICS}
    assert set(graph.user.attributes) == own
    for nodes, names in (
        (graph.roles, PERSON_ATTRIBUTES), (graph.events, EVENT_ATTRIBUTES), (graph.items, ITEM_ATTRIBUTES),
        (graph.places, PLACE_ATTRIBUTES),
    ):  # fmt: skip
        assert all(tuple(node.attributes) == names for node in nodes)
    for topic in preferences.TOPICS:
        assert graph.user[topic] in preferences.bundled_preferences(language).of(topic)


@pytest.mark.parametrize("language", LANGUAGES)
def test_sampled_graph_depends_on_seed_and_user_number(language: Language) -> None:
    assert sampled(language, 3) == sampled(language, 3)
    assert sampled(language, 3) != sampled(language, 4)
    assert sampled(language, 3) != sampled(language, 3, seed=43)


def test_event_locations_and_times_follow_probabilities_of_paper() -> None:
    graphs = [sampled("en", number) for number in range(300)]
    events = [(graph, event) for graph in graphs for event in graph.events]
    at_work = sum(event["location"] == graph.user["work_location"] for graph, event in events) / len(events)
    relative = sum(values.is_relative_time(event["time"]) for _, event in events) / len(events)
    # 0.8, and in one of 8 big cities the same by chance: 0.8 + 0.1 / 8 + 0.1 / 28.
    assert abs(at_work - 0.816) < 0.02
    # Fixed times are fewer and so drawn again more often: a little over one half.
    assert 0.48 < relative < 0.58
    start = datetime(2024, 10, 1)
    fixed = [
        values.resolve_time(event["time"], start)
        for _, event in events
        if not values.is_relative_time(event["time"])
    ]
    assert {moment.day for moment in fixed} == set(range(11, 18))


def test_sampled_heights_have_mean_and_deviation_of_each_gender() -> None:
    people = [node for number in range(300) for node in (sampled("en", number).roles)]
    for gender, middle in (("male", 170), ("female", 164)):
        heights = [values.parse_height(node["height"]) for node in people if node["gender"] == gender]
        assert abs(mean(heights) - middle) < 1 and 7 < pstdev(heights) < 9


def test_graph_nodes_are_found_by_id_and_by_attribute_values() -> None:
    graph = sampled()
    boss = graph.colleagues[1]
    assert graph.node(boss.entity_id) == boss
    assert nodes_with(graph.roles, name=boss.name) == [boss]
    assert nodes_with(graph.colleagues, company=graph.user["company"]) == list(graph.colleagues)
    assert nodes_with(graph.roles, hobby="nothing") == []
    with pytest.raises(KeyError):
        boss["fortune"]


def test_load_graph_rejects_user_without_graph() -> None:
    with pytest.raises(BadInput, match="the graph of user u9"):
        load_graph(States([]), "u9")


def test_load_graph_omits_quarantined_entity() -> None:
    graph = Graph("u", (Node("self", "self", "A", "self", {}), Node("item0", "item", "B", "owns", {})))
    profile, entities = graph_rows(graph, "d", vocabulary.bundled_vocabulary("en"), date(2024, 10, 1))
    entities[1] = replace(entities[1], reason="damaged")
    assert load_graph(States([profile], entities=entities), "u").nodes == graph.nodes[:1]
