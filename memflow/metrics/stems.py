"""Porter's stems, remembered: the same words come again and again. Which words are stemmed is each metric's."""

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def _porter() -> Any:
    from nltk.stem.porter import PorterStemmer  # noqa: PLC0415  (a second of imports, for those who need it)

    return PorterStemmer()


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of a word by nltk's PorterStemmer with its extensions, in lower case."""
    return str(_porter().stem(word))
