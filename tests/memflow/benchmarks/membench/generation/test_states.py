"""State tables of a generated domain."""

import asyncio

import pytest
from membench_generation import shipped_records

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.generation.graphs import load_graphs
from memflow.chat.scripted import ScriptedChat


@pytest.mark.parametrize("language", ["en", "zh"])
def test_generated_domain_has_graph_and_profile_for_each_user(language: str) -> None:
    parameters = {"graphs": 3, "language": language, "roles": 5, "events": 4}
    domain = Domain("d", "membench", (f"lives_{language}",), "", parameters)
    made = asyncio.run(MemBench().states(domain, shipped_records(domain), ScriptedChat({})))
    graphs = load_graphs(made)
    assert [life.user_id for life in graphs] == ["u0000", "u0001", "u0002"]
    assert [len(life.of_type("people")) for life in graphs] == [5, 5, 5]
    assert [len(life.of_type("events")) for life in graphs] == [4, 4, 4]
    assert [profile.name for profile in made.profiles] == [life.user.name for life in graphs]
    assert {profile.start_date for profile in made.profiles} == {"2024-10-01"}
