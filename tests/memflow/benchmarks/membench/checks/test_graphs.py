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
def test_drawn_lives_pass_every_check(language: str) -> None:
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
        (_old, {"ages_fit_what_people_are_to_the_user"}),
        (_same_name, {"what_questions_name_is_told_apart_in_a_life"}),
        (_same_hobby, {"what_questions_name_is_told_apart_in_a_life"}),
        (_unmarked, {"personal_data_is_marked_as_invented"}),
        (_somebodys, {"personal_data_is_of_ranges_that_nobody_is_given"}),
        (_forgotten, {"lives_have_as_many_people_and_events_as_set"}),
        (_moved, {"relatives_share_a_hometown_and_colleagues_their_work"}),
        (_empty, {"entities_have_the_attributes_of_their_kind"}),
        (_vague, {"numbers_and_times_are_told_so_that_they_compare"}),
        (
            _selfless,
            {
                "every_user_is_in_their_life_once",
                "lives_have_as_many_people_and_events_as_set",
                "relatives_share_a_hometown_and_colleagues_their_work",
            },
        ),
    ],
)
def test_a_damage_is_caught_by_its_sentence(damage: Damage, sentences: set[str]) -> None:
    domain = _domain("en")
    made = _states(domain)
    entities = list(made.entities)
    damage(entities)
    assert _broken(domain, made, entities) == sentences


def test_every_sentence_is_tried_by_a_damage() -> None:
    marks = test_a_damage_is_caught_by_its_sentence.pytestmark  # type: ignore[attr-defined]
    tried = {sentence for _, sentences in marks[0].args[1] for sentence in sentences}
    assert tried == {each.name for each in EXPECTED}


def test_published_users_are_as_they_are() -> None:
    domain = _domain("en")
    made = _states(domain)
    entities = list(made.entities)
    _somebodys(entities)
    assert _broken(replace(domain, parameters={}), made, entities) == set()
