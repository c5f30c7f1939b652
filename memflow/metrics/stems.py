"""The Porter stemmer of NLTK, with its extensions of Porter's algorithm (1980), and a cache."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the stem of a word, in lower case."""
    return str(_stemmer().stem(word))


@cache
def _stemmer() -> "PorterStemmer":
    from nltk.stem.porter import PorterStemmer  # noqa: PLC0415  (nltk takes a second to import)

    return PorterStemmer()
