"""Synthetic noise: distinct units, published lengths, and no content that a question asks for."""

from itertools import islice
from typing import get_args

import pytest

from memflow.benchmarks.membench.kinds import Scene
from memflow.benchmarks.membench.noise.synthetic import (
    generate_units,
)

LANGUAGES = ("en", "zh")
BOTH = pytest.mark.parametrize(
    ("scene", "language"), [(scene, language) for scene in get_args(Scene) for language in LANGUAGES]
)


@BOTH
def test_5000_synthetic_noise_units_are_distinct(scene: Scene, language: str) -> None:
    made = list(islice(generate_units(scene, language), 5_000))
    assert len({unit.steps for unit in made}) == len({unit.unit_id for unit in made}) == 5_000
