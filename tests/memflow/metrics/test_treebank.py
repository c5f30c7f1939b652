"""treebank.py: nltk's own tokens, faster."""

from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer

from memflow.metrics.treebank import sentence_words, treebank_words

WORDS, SENTENCES = NLTKWordTokenizer(), PunktSentenceTokenizer()
PARTS = (
    "a x I Dr B. cannot wanna 'tis 'twas d'ye n't don't 's 'll gimme . .. ... , : ; ? ! \" '' ' `` ` ( ) [ ] < -- - —"
    " “ ” ’ ‘ » 3 3.5 $ * é 中"
)
TEXTS = st.lists(
    st.sampled_from([*PARTS.split(), " ", " ", " ", "\n", "\t", "\u00a0", "  "]), max_size=25
).map("".join)


@settings(max_examples=400, deadline=None)
@given(sentence=TEXTS)
def test_a_sentence_has_the_tokens_of_nltk(sentence: str) -> None:
    assert sentence_words(sentence) == WORDS.tokenize(sentence)


@settings(max_examples=400, deadline=None)
@given(text=TEXTS)
def test_a_text_is_cut_into_the_sentences_of_untrained_punkt(text: str) -> None:
    assert treebank_words(text) == [
        word for part in SENTENCES.tokenize(text) for word in WORDS.tokenize(part)
    ]


def test_a_full_stop_inside_a_text_is_a_word_of_its_own() -> None:
    assert treebank_words("We met. You left.") == ["We", "met", ".", "You", "left", "."]
    assert sentence_words("We met. You left.") == ["We", "met.", "You", "left", "."]


def test_punkt_untrained_knows_no_abbreviation() -> None:
    assert treebank_words("Dr. Who left.") == ["Dr", ".", "Who", "left", "."]
