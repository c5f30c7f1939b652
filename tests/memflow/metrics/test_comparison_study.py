"""A small simulation study of intervals and tests. `python -m bench.comparison` is the whole study."""

import math

import numpy as np
import pytest

from bench.comparison import BOUNDS, DESIGNS, LEVEL, TRUTH, draw, false_alarms, studies
from memflow.metrics.paired import mean_differences

STUDIES = 600


@pytest.mark.parametrize("episodes", [12, 40])
@pytest.mark.parametrize("name", ["episodes of 3 to 29 probes", "no difference"])
def test_intervals_contain_the_true_difference_in_95_percent_of_studies(name: str, episodes: int) -> None:
    rng = np.random.default_rng(5)
    total, count = draw(DESIGNS[name], TRUTH // 4, rng)
    truth = total.sum() / count.sum()
    found = mean_differences(*studies(DESIGNS[name], episodes, STUDIES, rng))
    covered = ((found.low <= truth) & (truth <= found.high)).mean()
    spread = 2.6 * math.sqrt(0.95 * 0.05 / STUDIES)
    assert BOUNDS[0] - spread <= covered <= BOUNDS[1] + spread


def test_false_alarms_of_equal_assistants_are_rare_after_correction() -> None:
    alarms = false_alarms(12, 200, np.random.default_rng(6))
    assert alarms <= LEVEL + 2.6 * math.sqrt(0.95 * 0.05 / 200)
