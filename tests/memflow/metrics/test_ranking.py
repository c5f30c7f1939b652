"""Recall, precision, nDCG and reciprocal rank of a ranking, against values computed by hand."""

import math

import pytest

from memflow.metrics.ranking import ndcg_at, precision_at, recall_at, reciprocal_rank_at

FOUND = [2.0, 4.0]
"""Two of three evidence messages are found, by the entries of ranks 2 and 4."""


@pytest.mark.parametrize(
    ("k", "recall", "precision", "reciprocal"),
    [(1, 0, 0, 0), (2, 1 / 3, 1 / 2, 1 / 2), (5, 2 / 3, 2 / 5, 1 / 2)],
)
def test_values_at_a_cutoff(k: int, recall: float, precision: float, reciprocal: float) -> None:
    assert recall_at(FOUND, 3, k) == pytest.approx(recall)
    assert precision_at(FOUND, k) == pytest.approx(precision)
    assert reciprocal_rank_at(FOUND, k) == pytest.approx(reciprocal)


def test_ndcg_divides_by_the_ideal_ranking_of_the_corpus() -> None:
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    assert ndcg_at(FOUND, 3, 5) == pytest.approx(gain / (1 + 1 / math.log2(3) + 1 / math.log2(4)))
    assert ndcg_at(FOUND, 3, 1) == 0
    assert ndcg_at([1.0, 2.0], 2, 50) == 1
    assert ndcg_at([], 0, 5) == 0
