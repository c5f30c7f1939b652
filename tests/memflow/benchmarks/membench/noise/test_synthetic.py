"""Synthetic noise: distinct units, published lengths, and no content that a question asks for."""

import os
from itertools import islice
from pathlib import Path
from typing import get_args

import pytest

from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.kinds import Scene
from memflow.benchmarks.membench.noise.conflicts import forbidden_phrases, normalize
from memflow.benchmarks.membench.noise.synthetic import (
    NoiseUnit,
    generate_units,
)
from memflow.benchmarks.membench.probes import probe_rows
from memflow.benchmarks.membench.selection import select_trajectories
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.tokens import estimate

LANGUAGES = ("en", "zh")
BOTH = pytest.mark.parametrize(
    ("scene", "language"), [(scene, language) for scene in get_args(Scene) for language in LANGUAGES]
)


def length(unit: NoiseUnit) -> int:
    return sum(estimate(step.user) + estimate(step.assistant or "") for step in unit.steps)


@BOTH
def test_5000_synthetic_noise_units_are_distinct(scene: Scene, language: str) -> None:
    made = list(islice(generate_units(scene, language), 5_000))
    assert len({unit.steps for unit in made}) == len({unit.unit_id for unit in made}) == 5_000


@BOTH
def test_lengths_of_synthetic_noise_units_match_published_noise(scene: Scene, language: str) -> None:
    made = list(islice(generate_units(scene, language), 500))
    mean = sum(map(length, made)) / len(made)
    low, high = (900, 1_100) if scene == "participation" else (90, 125)
    assert low < mean < high
    assert all(len(unit.steps) == 3 for unit in made)
    assert all((step.assistant is None) == (scene == "observation") for unit in made for step in unit.steps)


def test_synthetic_noise_contains_no_answer_of_memdaily_questions() -> None:
    if not os.environ.get("MEMFLOW_DATA"):
        pytest.skip("set MEMFLOW_DATA to the data folder")
    folder = Path(os.environ["MEMFLOW_DATA"])
    paths = sorted((folder / "memdaily/messages_and_QAs").glob("*.json"))
    records = MemBench().records(
        find_dataset("memdaily"), {str(path.relative_to(folder)): path for path in paths}
    )
    domain = find_domain("membench_memdaily")
    probes = [
        probe for each in select_trajectories(domain, records) for probe in probe_rows(domain.name, each)
    ]
    phrases_of_questions = {
        phrase for phrases in forbidden_phrases([], probes).values() for phrase in phrases
    }
    assert len(phrases_of_questions) > 3_000
    made = [
        normalize(step.user)
        for unit in islice(generate_units("observation", "zh"), 2_000)
        for step in unit.steps
    ]
    assert {phrase for phrase in phrases_of_questions if any(phrase in said for said in made)} == set()
