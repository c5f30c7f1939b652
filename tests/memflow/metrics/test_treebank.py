"""Treebank tokens, compared with nltk's. Tests import nltk inside functions because the import takes a second."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

PARTS = (
    "a x I Dr B. cannot wanna 'tis 'twas d'ye n't don't 's 'll gimme . .. ... , : ; ? ! \" '' ' `` ` ( ) [ ] < -- - —"
    " “ ” ’ ‘ » 3 3.5 $ * é 中"
)
TEXTS = st.lists(
    st.sampled_from([*PARTS.split(), " ", " ", " ", "\n", "\t", "\u00a0", "  "]), max_size=25
).map("".join)


@pytest.fixture(scope="module")
def words() -> Any:
    """Return nltk's word tokenizer."""
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


@pytest.fixture(scope="module")
def sentences() -> Any:
    """Return nltk's untrained sentence tokenizer."""
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    return PunktSentenceTokenizer()


@examples(150)
@given(sentence=TEXTS)
def test_sentence_words_returns_the_same_tokens_as_nltk(words: Any, sentence: str) -> None:
    from memflow.metrics.treebank import sentence_words

    assert sentence_words(sentence) == words.tokenize(sentence)


@examples(150)
@given(text=TEXTS)
def test_treebank_words_equal_nltk_tokens_with_untrained_punkt(words: Any, sentences: Any, text: str) -> None:
    from memflow.metrics.treebank import treebank_words

    assert treebank_words(text) == [
        word for part in sentences.tokenize(text) for word in words.tokenize(part)
    ]
