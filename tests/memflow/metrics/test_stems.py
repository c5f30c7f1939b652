"""The stemmer: NLTK's extensions of Porter's algorithm, in lower case."""

import pytest

from memflow.metrics.stems import stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Birthdays", "birthday"),
        ("hopping", "hop"),
        ("skies", "sky"),
        ("conditional", "condit"),
        ("AT", "at"),
    ],
)
def test_stem_is_the_lower_case_stem_with_the_extensions_of_nltk(word: str, expected: str) -> None:
    assert stem(word) == expected
