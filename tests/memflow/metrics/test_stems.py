"""The stemmer, compared with NLTK's PorterStemmer in its default mode on known and random words."""

import re
from importlib.resources import files
from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from memflow.metrics.stems import _IRREGULAR, _STEP_2, _STEP_3, _STEP_4, stem

PORTER = PorterStemmer()
ENDINGS = (
    *(suffix for suffix, _ in (*_STEP_2, *_STEP_3)),
    *(*_STEP_4, "s", "ies", "sses", "ied", "eed", "ed", "ing", "y", "e", "ll", "alli", "*ded", "*ding"),
)
STARTS = (
    "",
    "a",
    "y",
    "s",
    "tr",
    "st",
    "syzyg",
    "hop",
    "hopp",
    "fall",
    "oat",
    "ivy",
    "troubl",
    "conflat",
    "siz",
)


def words_of(folder: Path) -> set[str]:
    """All words of the texts below a folder."""
    texts = [
        path.read_text(encoding="utf-8", errors="replace")
        for path in folder.rglob("*")
        if path.suffix in (".md", ".py", ".json", ".yaml", ".jsonl", ".txt")
    ]
    return {word for text in texts for word in re.findall(r"[^\W\d_]+", text)}


def test_stems_of_words_in_repository_texts_equal_nltk_stems() -> None:
    words = words_of(Path(str(files("memflow"))))
    assert len(words) > 10_000
    assert [word for word in {*words, *_IRREGULAR} if stem(word) != PORTER.stem(word)] == []


def test_stems_of_words_with_every_suffix_equal_nltk_stems() -> None:
    words = ["".join(parts) for parts in product(STARTS, ("", *ENDINGS), ENDINGS)]
    assert [word for word in {*words, *_IRREGULAR} if stem(word) != PORTER.stem(word)] == []


@given(
    st.text(max_size=12) | st.text(alphabet="aeioubdlnstyz'*AÉ中İ", max_size=12),
    st.sampled_from(["", *ENDINGS]),
)
def test_stem_of_a_random_word_equals_the_nltk_stem(start, ending) -> None:
    assert stem(start + ending) == PORTER.stem(start + ending)
