"""Noise of our own making: no unit twice, lengths as published, and nothing in it that questions ask for."""

import os
import re
from itertools import islice
from pathlib import Path
from typing import get_args

import pytest
from membench_noise import said

from memflow.benchmarks.datasets import dataset
from memflow.benchmarks.domains import find
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.kinds import Scene
from memflow.benchmarks.membench.noise.conflicts import conflict, forbidden, plain
from memflow.benchmarks.membench.noise.insertion import Unit
from memflow.benchmarks.membench.noise.synthetic import grammar, pool, units
from memflow.benchmarks.membench.selection import taken
from memflow.benchmarks.membench.turns import probes_of
from memflow.tokens import estimate

LANGUAGES = ("en", "zh")
BOTH = pytest.mark.parametrize(
    ("scene", "language"), [(scene, language) for scene in get_args(Scene) for language in LANGUAGES]
)


def length(unit: Unit) -> int:
    return sum(estimate(step.user) + estimate(step.assistant or "") for step in unit.steps)


@BOTH
def test_five_thousand_units_are_all_different(scene: Scene, language: str) -> None:
    made = list(islice(units(scene, language), 5_000))
    assert len({unit.steps for unit in made}) == len({unit.unit_id for unit in made}) == 5_000


@BOTH
def test_units_are_as_long_as_published_ones(scene: Scene, language: str) -> None:
    made = list(islice(units(scene, language), 500))
    mean = sum(map(length, made)) / len(made)
    low, high = (900, 1_100) if scene == "participation" else (90, 125)
    assert low < mean < high
    assert all(len(unit.steps) == 3 for unit in made)
    assert all((step.assistant is None) == (scene == "observation") for unit in made for step in unit.steps)


@BOTH
def test_a_pool_has_twice_what_a_trajectory_needs_and_a_longer_one_begins_alike(
    scene: Scene, language: str
) -> None:
    short, long = pool(scene, language, 2_000), pool(scene, language, 5_000)
    assert 4_000 <= sum(map(length, short)) < 4_000 + max(map(length, short))
    assert long[: len(short)] == short


@BOTH
def test_units_are_the_same_in_every_run(scene: Scene, language: str) -> None:
    once = list(islice(units(scene, language), 20))
    assert once == list(islice(units(scene, language), 20))


@BOTH
def test_sentences_are_filled_and_name_no_number_and_no_time(scene: Scene, language: str) -> None:
    days = r"\b(mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(spring|summer|autumn|winter)\b"
    days_zh = "周[一二三四五六日末]|星期|[春夏秋冬]季"
    for unit in islice(units(scene, language), 500):
        for text in (text for step in unit.steps for text in (step.user, step.assistant or "")):
            assert not re.search(r"[{}\d]", text), text
            assert not re.search(f"{days}|{days_zh}", text, re.IGNORECASE), text


@BOTH
def test_nobody_says_what_they_like(scene: Scene, language: str) -> None:
    name = "life-7/highlevel/movie/0"
    likings = forbidden(said([1], name), [])[name]
    assert likings
    for unit in islice(units(scene, language), 500):
        for step in unit.steps:
            assert conflict(plain(f"{step.user} {step.assistant}"), likings) is None, step


def test_both_languages_have_the_same_topics_and_as_many_phrases() -> None:
    en, zh = map(grammar, LANGUAGES)
    assert list(en.topics) == list(zh.topics)
    shapes = [
        [
            len(of.bodies),
            len(of.reports),
            len(of.remarks),
            *(len(held) for topic in of.topics.values() for held in topic.model_dump().values()),
        ]
        for of in (en, zh)
    ]
    assert shapes[0] == shapes[1]


def test_nothing_that_memdaily_asks_for_is_in_two_thousand_units() -> None:
    if not os.environ.get("MEMFLOW_DATA"):
        pytest.skip("set MEMFLOW_DATA to the data folder")
    folder = Path(os.environ["MEMFLOW_DATA"])
    paths = sorted((folder / "memdaily/messages_and_QAs").glob("*.json"))
    records = MemBench().records(dataset("memdaily"), {str(path.relative_to(folder)): path for path in paths})
    domain = find("membench_memdaily")
    probes = [probe for each in taken(domain, records) for probe in probes_of(domain.name, each)]
    asked = {phrase for phrases in forbidden([], probes).values() for phrase in phrases}
    assert len(asked) > 3_000
    made = [plain(step.user) for unit in islice(units("observation", "zh"), 2_000) for step in unit.steps]
    assert {phrase for phrase in asked if any(phrase in said for said in made)} == set()
