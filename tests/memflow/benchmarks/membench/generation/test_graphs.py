"""Sampled graphs: dependent values, unique values, distributions, and their rows."""

import re
from collections import Counter
from datetime import datetime
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation import values, vocabulary
from memflow.benchmarks.membench.generation.graph_sampling import sample_graph
from memflow.benchmarks.membench.generation.graphs import ATTRIBUTES, Graph
from memflow.benchmarks.membench.generation.vocabulary import (
    MAX_EVENTS,
    MAX_PEOPLE,
    THING_COUNT,
    Language,
)

LANGUAGES: tuple[Language, ...] = get_args(Language)


def is_relative(time: str) -> bool:
    return re.search(r"\d{4}", time) is None


def sampled(language: Language = "en", number: int = 0, seed: int = 42, **sizes: int) -> Graph:
    return sample_graph(seed, number, Parameters(language=language, **sizes))


def test_event_locations_and_times_follow_probabilities_of_paper() -> None:
    graphs = [sampled("en", number) for number in range(300)]
    events = [(graph, event) for graph in graphs for event in graph.of_type("events")]
    at_work = sum(event["location"] == graph.user["work_location"] for graph, event in events) / len(events)
    relative = sum(is_relative(event["time"]) for _, event in events) / len(events)
    # 0.8, and in one of 8 big cities the same by chance: 0.8 + 0.1 / 8 + 0.1 / 28.
    assert abs(at_work - 0.816) < 0.02
    # Fixed times are fewer and so drawn again more often: a little over one half.
    assert 0.48 < relative < 0.58
    start = datetime(2024, 10, 1)
    fixed = [
        values.resolve_time(event["time"], start) for _, event in events if not is_relative(event["time"])
    ]
    assert {moment.day for moment in fixed} == set(range(11, 18))


UNIQUE = {
    ("self", "relative", "colleague"): (
        "relationship",
        "birthday",
        "hobby",
        "character",
        "position",
        "phone",
        "email",
    ),
    ("work_event", "rest_event"): ("event_type", "content", "time"),
    ("item",): ("item_type",),
    ("place",): ("place_type",),
}
"""Attributes that identify an entity among those of its kinds."""
SHARED = {"relative": ("hometown",), "colleague": ("work_location", "education", "occupation", "company")}
"""Attributes that people share with the user."""
RESERVED = {
    "phone": r"\d{3}-555-01\d\d|0\d{2,3}-0\d{7}",
    "email": r"[a-z.]+@(?:[a-z]+\.example|example\.(?:com|org|net))",
}
"""Ranges of personal data that no real person uses."""


@given(
    st.sampled_from(LANGUAGES), st.integers(0, 2**40), st.integers(2, MAX_PEOPLE), st.integers(2, MAX_EVENTS)
)
@examples(30)
def test_sampled_graphs_are_complete_unambiguous_and_without_real_personal_data(
    language: Language, seed: int, roles: int, events: int
) -> None:
    graph = sampled(language, seed=seed, roles=roles, events=events)
    nodes = graph.nodes
    assert Counter(node.kind for node in nodes) == {
        "self": 1,
        "relative": roles - roles // 2,
        "colleague": roles // 2,
        "work_event": events - events // 2,
        "rest_event": events // 2,
        "item": THING_COUNT,
        "place": THING_COUNT,
    }
    assert len({node.name for node in nodes}) == len(nodes)
    for kinds, names in UNIQUE.items():
        of_kinds = [node for node in nodes if node.kind in kinds]
        for name in names:
            assert len({node[name] for node in of_kinds}) == len(of_kinds), name
    words = vocabulary.bundled_vocabulary(language)
    relations = {relation.name: relation.ages for relation in (*words.relatives, *words.colleagues)}
    for node in nodes:
        assert all(value.strip() for value in node.attributes.values())
        assert all(node[name] == graph.user[name] for name in SHARED.get(node.kind, ()))
        personal = {name: node[name] for name in values.CONTACT_ATTRIBUTES if name in node.attributes}
        assert sorted(node.synthetic) == sorted(personal)
        assert all(re.fullmatch(RESERVED[name], value) for name, value in personal.items())
        if node.kind in ("relative", "colleague"):
            assert node.attributes.keys() | {"name"} == {
                *ATTRIBUTES["stated"]["people"],
                "gender",
                "character",
            }
            low, high = relations[node.relationship]
            assert low <= values.parse_size(node["age"]) - values.parse_size(graph.user["age"]) <= high
