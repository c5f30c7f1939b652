"""Checks of generated graphs: sampled graphs pass, and each corruption fails the check of its property."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from membench_generation import shipped_records
from profiles import examples

from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.checks.graphs import EXPECTED
from memflow.benchmarks.membench.generation.vocabulary import MAX_EVENTS, MAX_PEOPLE
from memflow.chat.scripted import ScriptedChat
from memflow.checks.evaluation import check_rows
from memflow.checks.expectations import all_expectations
from memflow.records import Entity

Corruption = Callable[[list[Entity]], list[Entity]]


def domain_of(language: str) -> Domain:
    return Domain("d", "membench", (f"lives_{language}",), "", {"graphs": 4, "language": language})


def states_of(domain: Domain) -> States:
    return asyncio.run(MemBench().states(domain, shipped_records(domain), ScriptedChat({})))


def failed(domain: Domain, states: States, entities: list[Entity]) -> set[str]:
    tables: dict[str, Any] = {"state.profiles": states.profiles, "state.entities": entities}
    expectations = [each for each in all_expectations() if each.table == "state.entities"]
    outcomes = check_rows("state.entities", entities, expectations, tables.__getitem__, domain)
    return {outcome.name for outcome in outcomes if not outcome.passed}


@given(
    st.sampled_from(("en", "zh")),
    st.integers(0, 2**40),
    st.integers(2, MAX_PEOPLE),
    st.integers(2, MAX_EVENTS),
)
@examples(30)
def test_sampled_graphs_of_any_seed_and_size_pass_graph_checks(
    language: str, seed: int, roles: int, events: int
) -> None:
    parameters = {"graphs": 2, "language": language, "roles": roles, "events": events}
    domain = replace(domain_of(language), seed=seed, parameters=parameters)
    states = states_of(domain)
    assert failed(domain, states, states.entities) == set()


def changed(rows: list[Entity], kind: str, attributes: dict[str, str], **fields: Any) -> list[Entity]:
    """Change attributes and fields of the first entity of a kind."""
    row = next(row for row in rows if row.kind == kind)
    text = json.dumps({**json.loads(row.attributes), **attributes})
    return [replace(each, attributes=text, **fields) if each is row else each for each in rows]


CORRUPTIONS: list[tuple[Corruption, set[str]]] = [
    (lambda rows: changed(rows, "relative", {"age": "99 years old"}), {"ages_fit_relationships_to_user"}),
    (lambda rows: changed(rows, "item", {}, name=rows[0].name), {"identifying_values_unique_per_graph"}),
    (
        lambda rows: changed(rows, "colleague", {"hobby": json.loads(rows[0].attributes)["hobby"]}),
        {"identifying_values_unique_per_graph"},
    ),
    (lambda rows: changed(rows, "self", {}, synthetic=["phone", "email"]), {"personal_data_marked_as_synthetic"}),
    (lambda rows: changed(rows, "self", {"phone": "617-253-1000"}), {"personal_data_in_reserved_ranges"}),
    (
        lambda rows: [row for row in rows if row.entity_id != "rest_event0"],
        {"entity_counts_as_configured"},
    ),
    (
        lambda rows: changed(rows, "colleague", {"company": "Elsewhere Ltd"}),
        {"relatives_share_hometown_and_colleagues_share_job"},
    ),
    (lambda rows: changed(rows, "place", {"review": " "}), {"entity_has_all_attributes_of_its_kind"}),
    (lambda rows: changed(rows, "work_event", {"scale": "many people"}), {"attribute_values_are_parseable"}),
    (
        lambda rows: changed(rows, "self", {}, reason="damaged"),
        {
            "one_user_entity_per_graph", "entity_counts_as_configured",
            "relatives_share_hometown_and_colleagues_share_job",
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("corruption", "checks"), CORRUPTIONS)
def test_corrupted_graph_entities_fail_expected_checks(corruption: Corruption, checks: set[str]) -> None:
    domain = domain_of("en")
    states = states_of(domain)
    assert failed(domain, states, corruption(list(states.entities))) == checks


def test_every_graph_check_is_tested_by_a_corruption() -> None:
    assert {check for _, checks in CORRUPTIONS for check in checks} == {each.name for each in EXPECTED}
