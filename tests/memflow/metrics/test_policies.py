"""Comparison of two policies: hand-computed values and the published ranks."""

import numpy as np
import pytest

from memflow.errors import BadInput
from memflow.metrics.policies import PolicyCounts, paired_intervals, rank_changes, ranks

# AMemGym, Table 2: memory scores of memory agents, and by how many ranks each rises off-policy.
PUBLISHED = {
    "AWE-(2,4,30)": (0.291, 0.253, -3),
    "AWE-(2,8,30)": (0.278, 0.271, 0),
    "AWE-(2,4,10)": (0.275, 0.273, 2),
    "AWE-(4,4,30)": (0.262, 0.229, -3),
    "AWE-(2,0,30)": (0.261, 0.262, 2),
    "AWE-(2,4,50)": (0.251, 0.248, 1),
    "AWE-(8,4,30)": (0.233, 0.221, -1),
    "RAG-(2,4,30)": (0.227, 0.241, 2),
    "LLM": (0.203, 0.198, -1),
    "AWI": (0.172, 0.199, 1),
}


def test_rank_changes_equal_the_published_rank_changes():
    on, off, changes = zip(*PUBLISHED.values(), strict=True)
    assert ranks(on) == list(range(1, 11))
    assert rank_changes(ranks(on), ranks(off)) == list(changes)


def test_equal_values_get_the_same_rank_and_missing_values_get_no_rank():
    assert ranks([0.2, None, 0.3, 0.1 + 0.2, 0.1]) == [3, None, 1, 1, 4]
    assert ranks([]) == []
    assert rank_changes([1, None, 3], [2, 1, None]) == [-1, None, None]
    with pytest.raises(BadInput, match="`on` has 2 ranks, but `off` has 1"):
        rank_changes([1, 2], [1])


def answers(right, bound=None) -> PolicyCounts:
    """Return counts with four answers per user and period and a chance level of 0.25."""
    right = np.asarray(right, dtype=np.float64)
    bound = np.full_like(right, 4) if bound is None else np.asarray(bound, dtype=np.float64)
    return PolicyCounts(right, bound, np.ones_like(right), np.full_like(right, 4))


def test_paired_difference_equals_difference_of_pooled_values():
    on, off = answers([[4, 2], [2, 0], [1, 1]]), answers([[4, 4], [2, 0], [1, 1]])
    pair = paired_intervals(on.accuracy, off.accuracy, 3)
    assert (pair.on.value, pair.off.value) == (10 / 24, 12 / 24)
    assert pair.difference.value == pytest.approx(2 / 24)
    # The means of the three users are 2 / 8, 0 and 0; the 97.5 % quantile of Student's t is 4.303.
    error = np.std([2 / 8, 0, 0], ddof=1) / np.sqrt(3)
    assert pair.difference[1:3] == pytest.approx((2 / 24 - 4.303 * error, 2 / 24 + 4.303 * error), abs=1e-4)


def test_memory_score_of_policy_counts_is_pooled_over_users_per_period():
    on = answers([[4, 2], [2, 0]], bound=[[4, 4], [4, 2]])
    # Period 0: (6/8 - 1/4) / (8/8 - 1/4) = 2/3; period 1: (2/8 - 1/4) / (6/8 - 1/4) = 0.
    assert on.memory_score(np.ones((1, 2)))[0] == pytest.approx(1 / 3)


def test_memory_score_is_missing_if_upper_bound_equals_chance():
    flat = answers([[2], [2]], bound=[[1], [1]])
    pair = paired_intervals(flat.memory_score, flat.memory_score, 2)
    assert pair.difference[:4] == (None, None, None, None)
