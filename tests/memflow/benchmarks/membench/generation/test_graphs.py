"""Lives drawn by seed: what follows from what, what is told apart, and the rows they become."""

from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.benchmarks.api import States
from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation import personal_data, preferences, vocabulary
from memflow.benchmarks.membench.generation import values as attribute_values
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


def drawn(language: Language = "en", number: int = 0, seed: int = 42, **sizes: int) -> Graph:
    """A life from our own words."""
    return sample_graph(
        seed,
        number,
        Parameters(language=language, **sizes),
        vocabulary.bundled_vocabulary(language),
        preferences.bundled_preferences(language),
    )


any_life = st.builds(
    drawn,
    st.sampled_from(LANGUAGES),
    st.integers(0, 10_000),
    st.integers(0, 2**40),
    roles=st.integers(2, MAX_PEOPLE),
    events=st.integers(2, MAX_EVENTS),
)


@given(any_life)
@examples(100)
def test_identifying_values_are_unique_in_graph(life: Graph) -> None:
    people = (life.user, *life.roles)
    for nodes, names in (
        (life.nodes, ("name",)),
        (people, ("relationship", "birthday", "hobby", "character", "position", "phone", "email")),
        (life.events, ("event_type", "content", "time")),
        (life.items, ("item_type",)),
        (life.places, ("place_type",)),
    ):
        for name in names:
            values = [node[name] for node in nodes]
            assert len(set(values)) == len(values), (name, values)


@given(any_life)
@examples(100)
def test_relatives_share_hometown_and_colleagues_share_job(life: Graph) -> None:
    assert {node["hometown"] for node in life.relatives} == {life.user["hometown"]}
    for shared in ("work_location", "occupation", "company", "education"):
        assert {node[shared] for node in life.colleagues} == {life.user[shared]}


@given(any_life)
@examples(100)
def test_ages_and_heights_are_in_range(life: Graph) -> None:
    age = attribute_values.parse_age(life.user["age"])
    assert AGES[0] <= age <= AGES[1]
    words = vocabulary.bundled_vocabulary("zh" if "岁" in life.user["age"] else "en")
    for node in life.roles:
        (relation,) = (
            each for each in (*words.relatives, *words.colleagues) if each.name == node.relationship
        )
        low, high = relation.ages
        assert low <= attribute_values.parse_age(node["age"]) - age <= high
    assert all(
        150 <= attribute_values.parse_height(node["height"]) <= 190 for node in (life.user, *life.roles)
    )


@given(any_life)
@examples(100)
def test_occupation_matches_education(life: Graph) -> None:
    words = vocabulary.bundled_vocabulary("zh" if "岁" in life.user["age"] else "en")
    for node in (life.user, *life.roles):
        occupation = words.occupation(node["occupation"])
        assert node["education"] in occupation.education
        assert node["position"] in occupation.positions + occupation.seniors


@given(any_life)
@examples(100)
def test_personal_data_is_marked_and_reserved(life: Graph) -> None:
    for node in life.nodes:
        expected: tuple[str, ...] = ()
        if node.kind in ("self", "relative", "colleague"):
            expected = personal_data.CONTACT_ATTRIBUTES + (
                personal_data.DOCUMENT_ATTRIBUTES if node.kind == "self" else ()
            )
        assert node.synthetic == expected
        assert all(personal_data.is_reserved(name, node[name]) for name in node.synthetic)


@given(any_life)
@examples(50)
def test_graph_round_trips_through_rows(life: Graph) -> None:
    words = vocabulary.bundled_vocabulary("zh" if "岁" in life.user["age"] else "en")
    profile, entities = graph_rows(life, "d", words, date(2024, 10, 1))
    states = States([profile], entities=entities)
    assert load_graph(states, life.user_id) == life
    assert load_graphs(states) == [life]
    assert not any(life.user[name] in profile.profile for name in life.user.synthetic)


@pytest.mark.parametrize("language", LANGUAGES)
def test_graph_has_configured_size_and_all_attributes(language: Language) -> None:
    life = drawn(language)
    kinds = Counter(node.kind for node in life.nodes)
    assert kinds == {
        "self": 1,
        "relative": 4,
        "colleague": 4,
        "work_event": 5,
        "rest_event": 5,
        "item": 4,
        "place": 4,
    }
    assert len(life.roles) == 8 and len(life.events) == 10
    assert set(life.user.attributes) == {
        *PERSON_ATTRIBUTES,
        *personal_data.DOCUMENT_ATTRIBUTES,
        *preferences.TOPICS,
    }
    assert all(tuple(node.attributes) == PERSON_ATTRIBUTES for node in life.roles)
    assert all(tuple(node.attributes) == EVENT_ATTRIBUTES for node in life.events)
    assert all(tuple(node.attributes) == ITEM_ATTRIBUTES for node in life.items)
    assert all(tuple(node.attributes) == PLACE_ATTRIBUTES for node in life.places)
    for topic in preferences.TOPICS:
        assert life.user[topic] in preferences.bundled_preferences(language).of(topic)


@pytest.mark.parametrize("language", LANGUAGES)
def test_graph_depends_only_on_seed_and_number(language: Language) -> None:
    assert drawn(language, 3) == drawn(language, 3)
    assert drawn(language, 3) != drawn(language, 4)
    assert drawn(language, 3) != drawn(language, 3, seed=43)


def test_event_locations_follow_paper_probabilities() -> None:
    lives = [drawn("en", number) for number in range(300)]
    events = [(life, event) for life in lives for event in life.events]
    at_work = sum(event["location"] == life.user["work_location"] for life, event in events) / len(events)
    relative = sum(attribute_values.is_relative_time(event["time"]) for _, event in events) / len(events)
    # 0.8, and in one of 8 big cities the same by chance: 0.8 + 0.1 / 8 + 0.1 / 28.
    assert abs(at_work - 0.816) < 0.02
    # Fixed times are fewer and so drawn again more often: a little over one half.
    assert 0.48 < relative < 0.58
    start = datetime(2024, 10, 1)
    fixed = [
        attribute_values.resolve_time(event["time"], start)
        for _, event in events
        if not attribute_values.is_relative_time(event["time"])
    ]
    assert {moment.day for moment in fixed} == set(range(11, 18))


def test_heights_are_normally_distributed_by_gender() -> None:
    people = [node for number in range(300) for node in (drawn("en", number).roles)]
    for gender, middle in (("male", 170), ("female", 164)):
        heights = [
            attribute_values.parse_height(node["height"]) for node in people if node["gender"] == gender
        ]
        mean = sum(heights) / len(heights)
        assert abs(mean - middle) < 1
        assert 7 < (sum((each - mean) ** 2 for each in heights) / len(heights)) ** 0.5 < 9


def test_nodes_are_found_by_id_and_values() -> None:
    life = drawn()
    boss = life.colleagues[1]
    assert life.node(boss.entity_id) == boss
    assert nodes_with(life.roles, name=boss.name) == [boss]
    assert nodes_with(life.colleagues, company=life.user["company"]) == list(life.colleagues)
    assert nodes_with(life.roles, hobby="nothing") == []
    with pytest.raises(KeyError):
        boss["fortune"]


def test_missing_graph_is_rejected() -> None:
    with pytest.raises(BadInput, match="user u9 has no graph"):
        load_graph(States([]), "u9")


def test_quarantined_entity_is_not_in_graph() -> None:
    life = Graph("u", (Node("self", "self", "A", "self", {}), Node("item0", "item", "B", "owns", {})))
    profile, entities = graph_rows(life, "d", vocabulary.bundled_vocabulary("en"), date(2024, 10, 1))
    entities[1] = replace(entities[1], reason="damaged")
    assert load_graph(States([profile], entities=entities), "u").nodes == life.nodes[:1]
