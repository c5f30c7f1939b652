import random

import pytest

from memflow.benchmarks.memorybench.users.actions import add_noise

# Of the paper's scores only their number and range are told; with every score equally frequent its figures come out.
TABLE_21 = {0.2: 1.20, 0.3: 8.69, 0.4: 18.84, 0.5: 28.59, 0.8: 47.86, 1.0: 55.56, 1.2: 60.76}
VARIATION = {0.2: 1197, 0.3: 8691, 0.4: 18853, 0.5: 28809, 0.8: 52752, 1.0: 67169, 1.2: 80503}


@pytest.mark.parametrize("sigma", TABLE_21)
def test_share_of_scores_changed_by_noise_matches_table_21(sigma: float) -> None:
    chance, n = random.Random(42), 100_000
    before = [score for score in range(1, 11) for _ in range(n // 10)]
    after = [add_noise(score, sigma, chance) for score in before]
    changed = sum(one != other for one, other in zip(before, after, strict=True))
    moved = sum(abs(one - other) for one, other in zip(before, after, strict=True))
    assert 100 * changed / n == pytest.approx(TABLE_21[sigma], abs=0.5)
    assert moved == pytest.approx(VARIATION[sigma], abs=0.01 * n)
