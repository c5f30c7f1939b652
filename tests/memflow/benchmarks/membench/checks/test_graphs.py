"""What must hold of drawn lives: it holds of ours, and a damage is caught by the sentence that it breaks."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.api import States
from memflow.benchmarks.datasets import dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.checks.graphs import EXPECTED
from memflow.benchmarks.membench.load import read
from memflow.chat.scripted import ScriptedChat
from memflow.checks.evaluation import check_rows
from memflow.checks.expectations import all_expectations
from memflow.records import Entity

Damage = Callable[[list[Entity]], None]


def _domain(language: str) -> Domain:
    return Domain("d", "membench", (f"lives_{language}",), "", {"graphs": 4, "language": language})


def _states(domain: Domain) -> States:
    held = dataset(domain.datasets[0])
    records = read(held, {source: Path(str(files("memflow"))) / source for source in held.files})
    return asyncio.run(MemBench().states(domain, records, ScriptedChat({})))


def _broken(domain: Domain, made: States, entities: list[Entity]) -> set[str]:
    """The sentences of state.entities that do not hold."""
    world: dict[str, Sequence[Any]] = {"state.profiles": made.profiles, "state.entities": entities}
    expectations = [each for each in all_expectations() if each.table == "state.entities"]
    outcomes = check_rows("state.entities", entities, expectations, world.__getitem__, domain)
    return {outcome.name for outcome in outcomes if not outcome.passed}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_sampled_graphs_pass_checks(language: str) -> None:
    domain = _domain(language)
    made = _states(domain)
    assert _broken(domain, made, made.entities) == set()


def _with(rows: list[Entity], at: int, **values: str) -> None:
    """Give the entity at a position other attributes."""
    attributes = {**json.loads(rows[at].attributes), **values}
    rows[at] = replace(rows[at], attributes=json.dumps(attributes))


def _at(rows: list[Entity], kind: str) -> int:
    return next(at for at, row in enumerate(rows) if row.kind == kind)


def _old(rows: list[Entity]) -> None:
    _with(rows, _at(rows, "relative"), age="99 years old")


def _same_name(rows: list[Entity]) -> None:
    rows[_at(rows, "item")] = replace(rows[_at(rows, "item")], name=rows[0].name)


def _same_hobby(rows: list[Entity]) -> None:
    _with(rows, _at(rows, "colleague"), hobby=json.loads(rows[0].attributes)["hobby"])


def _unmarked(rows: list[Entity]) -> None:
    rows[0] = replace(rows[0], synthetic=["phone", "email"])


def _somebodys(rows: list[Entity]) -> None:
    _with(rows, 0, phone="617-253-1000")


def _forgotten(rows: list[Entity]) -> None:
    del rows[_at(rows, "rest_event")]


def _moved(rows: list[Entity]) -> None:
    _with(rows, _at(rows, "colleague"), company="Elsewhere Ltd")


def _empty(rows: list[Entity]) -> None:
    _with(rows, _at(rows, "place"), review=" ")


def _vague(rows: list[Entity]) -> None:
    _with(rows, _at(rows, "work_event"), scale="many people")


def _selfless(rows: list[Entity]) -> None:
    rows[0] = replace(rows[0], reason="damaged")


@pytest.mark.parametrize(
    ("damage", "sentences"),
    [
        (_old, {"ages_match_relationships"}),
        (_same_name, {"identifying_values_unique_per_graph"}),
        (_same_hobby, {"identifying_values_unique_per_graph"}),
        (_unmarked, {"personal_data_marked_synthetic"}),
        (_somebodys, {"personal_data_in_reserved_ranges"}),
        (_forgotten, {"entity_counts_match_settings"}),
        (_moved, {"relatives_share_hometown_colleagues_share_job"}),
        (_empty, {"attributes_match_entity_kind"}),
        (_vague, {"parseable_attribute_values"}),
        (
            _selfless,
            {
                "one_self_per_graph",
                "entity_counts_match_settings",
                "relatives_share_hometown_colleagues_share_job",
            },
        ),
    ],
)
def test_corruption_fails_its_check(damage: Damage, sentences: set[str]) -> None:
    domain = _domain("en")
    made = _states(domain)
    entities = list(made.entities)
    damage(entities)
    assert _broken(domain, made, entities) == sentences


def test_every_check_is_tested_by_a_corruption() -> None:
    marks = test_corruption_fails_its_check.pytestmark  # type: ignore[attr-defined]
    tried = {sentence for _, sentences in marks[0].args[1] for sentence in sentences}
    assert tried == {each.name for each in EXPECTED}


def test_published_graphs_are_not_checked() -> None:
    domain = _domain("en")
    made = _states(domain)
    entities = list(made.entities)
    _somebodys(entities)
    assert _broken(replace(domain, parameters={}), made, entities) == set()
