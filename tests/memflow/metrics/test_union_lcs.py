"""ROUGE-L of the package `rouge` against the full dynamic programming table."""

from collections.abc import Sequence
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.metrics.text import DEEPEST, union_rouge_l


def by_table(said: Sequence[str], wanted: Sequence[str]) -> set[str]:
    """The words met walking back through the whole table, by the rule of the package."""
    lengths = [[0] * (len(said) + 1) for _ in range(len(wanted) + 1)]
    for row, word in enumerate(wanted, 1):
        for column, other in enumerate(said, 1):
            lengths[row][column] = (
                lengths[row - 1][column - 1] + 1
                if word == other
                else max(lengths[row - 1][column], lengths[row][column - 1])
            )
    found, row, column = set(), len(wanted), len(said)
    while row and column:
        if wanted[row - 1] == said[column - 1]:
            found.add(wanted[row - 1])
            row, column = row - 1, column - 1
        elif lengths[row - 1][column] > lengths[row][column - 1]:
            row -= 1
        else:
            column -= 1
    return found


WORDS = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=30)
TEXTS = st.lists(WORDS, min_size=1, max_size=4)


@given(said=TEXTS, wanted=TEXTS)
def test_union_lcs_equals_dynamic_programming_table(said: list[list[str]], wanted: list[list[str]]) -> None:
    common = set().union(*(by_table(one, gold) for gold in wanted for one in said))
    precision = len(common) / len(set(chain.from_iterable(said)))
    recall = len(common) / len(set(chain.from_iterable(wanted)))
    expected = 2 * precision * recall / (precision + recall + 1e-8)
    assert union_rouge_l(said, wanted) == pytest.approx(expected, abs=1e-15)


def test_text_without_sentence_scores_0() -> None:
    assert union_rouge_l([], [["a"]]) == union_rouge_l([["a"]], []) == 0.0


def test_score_is_0_where_package_fails() -> None:
    words = [f"w{n}" for n in range(DEEPEST)]
    assert union_rouge_l([words], [words]) == pytest.approx(1, abs=1e-8)
    assert union_rouge_l([[*words, "z"]], [[*words, "z"]]) == 0.0
    # Nothing in common: the package walks along the whole answer, and only that.
    assert union_rouge_l([["x"]], [[*words, "z"]]) == 0.0
