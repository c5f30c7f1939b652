"""F1 of word sets and BLEU-1: values by hand, and those of NLTK's BLEU."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from memflow.metrics.overlap import bleu_1, set_f1
from memflow.metrics.treebank import treebank_words


@pytest.mark.parametrize(
    ("said", "gold", "value"),
    [
        ("19 January 2023", "19 January, 2023", 1.0),
        ("Dance.", "by dancing", 0.0),
        ("no no no", "no", 1.0),
        ("the cat", "a cat", 0.5),
        ("", "cat", 0.0),
        ("...", "cat", 0.0),
        ("Yes!", "yes?", 1.0),
    ],
)
def test_set_f1_counts_distinct_words_without_stems(said: str, gold: str, value: float) -> None:
    assert set_f1(said, gold) == pytest.approx(value)


@pytest.mark.parametrize(
    ("said", "gold", "value"),
    [
        ("19 January 2023", "19 January, 2023", math.exp(1 - 4 / 3)),
        ("January 2023.", "January, 2023", 2 / 3),
        ("the the the the", "the cat", 0.25),
        ("Dance.", "by dancing", 0.0),
        ("", "cat", 0.0),
        ("cat", "", 0.0),
    ],
)
def test_bleu_1_clips_words_and_penalizes_short_answers(said: str, gold: str, value: float) -> None:
    assert bleu_1(said, gold) == pytest.approx(value)


@given(st.text("ab. ,'\"\n", max_size=20), st.text("ab. ,'\"\n", max_size=20))
def test_bleu_1_equals_that_of_nltk_over_the_same_words(said: str, gold: str) -> None:
    words = treebank_words(said), treebank_words(gold)
    expected = 0.0
    if all(words):
        smooth = SmoothingFunction().method1
        expected = sentence_bleu([words[1]], words[0], weights=(1, 0, 0, 0), smoothing_function=smooth)
    assert bleu_1(said, gold) == pytest.approx(expected)
