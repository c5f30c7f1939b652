"""A small simulation study of the gate's decisions. `python -m bench.gate` is the whole study."""

import math

import numpy as np
import pytest

from bench.gate import CHANGED, LEVEL, LOSSES, POWER, differences, false_regressions, results, share
from memflow.scoring.decisions import MARGIN

STUDIES = 300
ALLOWED = LEVEL + 2.6 * math.sqrt(LEVEL * (1 - LEVEL) / STUDIES)


@pytest.mark.parametrize("episodes", [6, 12])
def test_equal_runs_rarely_have_a_regression_in_any_metric_or_slice(episodes: int) -> None:
    assert false_regressions(episodes, STUDIES // 2, np.random.default_rng(1)) <= ALLOWED


@pytest.mark.parametrize("episodes", [6, 20, 60])
@pytest.mark.parametrize(("changed", "correlation"), LOSSES)
def test_loss_of_the_margin_is_rarely_no_regression(
    episodes: int, changed: float, correlation: float
) -> None:
    rng = np.random.default_rng(2)
    drawn = differences(episodes, STUDIES, rng, loss=MARGIN, changed=changed, correlation=correlation)
    assert share(results([drawn]), 0) <= ALLOWED


def test_loss_of_10_points_with_20_episodes_is_a_regression() -> None:
    drawn = differences(20, STUDIES, np.random.default_rng(3), loss=0.1)
    assert drawn.mean() == pytest.approx(-0.1, abs=0.005)
    assert np.abs(drawn).mean() == pytest.approx(CHANGED, abs=0.005)
    assert share(results([drawn]), 1) >= POWER


def test_equal_runs_with_100_episodes_are_mostly_no_regression() -> None:
    drawn = differences(100, STUDIES, np.random.default_rng(4))
    assert share(results([drawn]), 0) >= 0.7
