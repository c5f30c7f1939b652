"""METEOR: the weighted F-score of matched words (exact, stem, synonym), with a penalty for many chunks.

A chunk is a run of matches that are adjacent in both texts. Synonyms are an argument
(resources/metric_backends/wordnet.py).
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, Protocol

from memflow.errors import BadSettings
from memflow.metrics.stems import stem

METEOR = "meteor"
METEOR_NOWORDNET = "meteor_nowordnet"
"""The metric's name for English without synonyms."""

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
"""Weight of precision, shape and weight of the penalty: nltk's defaults, as in MemoryBench."""

Language = Literal["en", "zh"]
Variant = Literal["standard", "published_code"]
_Placed = list[tuple[int, str]]
_Pairs = list[tuple[int, int]]


class Synonyms(Protocol):
    """The protocol of a dictionary of English synonyms."""

    def of(self, word: str) -> frozenset[str]:
        """Return the single-word synonyms of all senses of a word and of its base forms; empty if unknown."""
        ...


def metric_name(language: Language, synonyms: Synonyms | None) -> str:
    """Return `meteor`, or `meteor_nowordnet` for English without synonyms."""
    return METEOR if language == "zh" or synonyms is not None else METEOR_NOWORDNET


def meteor(
    prediction: str,
    gold: str,
    language: Language = "en",
    variant: Variant = "standard",
    synonyms: Synonyms | None = None,
) -> float:
    """Return the METEOR score of an answer, in [0, 1].

    English words are NLTK's tokens (see treebank.py). Chinese words are jieba's, without white space and synonyms.
    The variant `published_code` equals NLTK's meteor_score, which looks up synonyms of stems; `standard` looks up
    synonyms of words. Raises BadSettings for an unknown language or variant.
    """
    if language == "en":
        cut = _english_words
    elif language == "zh":
        cut, synonyms = _chinese_words, None
    else:
        raise BadSettings(f"unknown METEOR language {language!r}. Use 'en' or 'zh'.")
    return _score(cut(prediction), cut(gold), variant, synonyms)


def _score(said: Sequence[str], wanted: Sequence[str], variant: Variant, synonyms: Synonyms | None) -> float:
    if variant not in ("standard", "published_code"):
        raise BadSettings(f"unknown METEOR variant {variant!r}. Use 'standard' or 'published_code'.")
    pairs: _Pairs = []
    left, free = _match(list(enumerate(said))[::-1], list(enumerate(wanted)), pairs)
    left, free = _match(_stemmed(left), _stemmed(free), pairs)
    if synonyms is not None:
        if variant == "standard":
            left, free = [(place, said[place]) for place, _ in left], [(at, wanted[at]) for at, _ in free]
        _match_synonyms(left, free, synonyms, pairs)
    if not pairs:
        return 0.0
    matches = len(pairs)
    precision, recall = matches / len(said), matches / len(wanted)
    mean = (precision * recall) / (ALPHA * precision + (1 - ALPHA) * recall)
    penalty = GAMMA * (_chunks(pairs) / matches) ** BETA
    return (1 - penalty) * mean


def _match(said: _Placed, wanted: _Placed, pairs: _Pairs) -> tuple[_Placed, _Placed]:
    """Add pairs of equal words to `pairs`, starting with the last words. Return the unpaired words.

    `said` is in reverse order, `wanted` is not.
    """
    places = _places(wanted)
    left = []
    for placed in said:
        if at := places.get(placed[1]):
            pairs.append((placed[0], at.pop()))
        else:
            left.append(placed)
    return left, sorted((at, word) for word, ats in places.items() for at in ats)


def _match_synonyms(said: _Placed, wanted: _Placed, synonyms: Synonyms, pairs: _Pairs) -> None:
    """Add to `pairs` each word of `said` with its last unpaired synonym, starting with the last word."""
    places = _places(wanted)
    for place, word in said:
        free = [places[other] for other in synonyms.of(word) if places.get(other)]
        if free:
            pairs.append((place, max(free, key=lambda at: at[-1]).pop()))


def _places(words: _Placed) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in words:
        places[word].append(place)
    return places


def _stemmed(words: _Placed) -> _Placed:
    return [(place, stem(word)) for place, word in words]


def _chunks(pairs: _Pairs) -> int:
    """Return the number of chunks: longest runs of matches that are adjacent in both texts."""
    pairs.sort()
    return 1 + sum(after != before + 1 or at != last + 1 for (before, last), (after, at) in pairwise(pairs))


@lru_cache(maxsize=200_000)
def _lower(word: str) -> str:
    """Return the lower-case word, interned to save memory."""
    return word.lower()


@lru_cache(maxsize=30_000)
def _english_words(text: str) -> tuple[str, ...]:
    from memflow.metrics.treebank import treebank_words  # noqa: PLC0415  (nltk takes a second to import)

    return tuple(map(_lower, treebank_words(text)))


@lru_cache(maxsize=10_000)
def _chinese_words(text: str) -> tuple[str, ...]:
    import rjieba  # noqa: PLC0415  (its dictionary takes a moment)

    return tuple(word for word in rjieba.cut(text.lower()) if not word.isspace())
