"""METEOR: how many of the gold's words an answer has, in how few unbroken runs.

Words are matched as they are, then by stem, then as synonyms. Synonyms are WordNet's, which is data that is
handed in (resources/wordnet.py); without it the metric has another name. Nothing is read or fetched here.
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
"""The metric's name where English is scored without synonyms: exact and stem matches alone."""

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
"""Weight of precision, shape and weight of the penalty for runs: nltk's defaults, which MemoryBench leaves."""

Language = Literal["en", "zh"]
Variant = Literal["standard", "published_code"]
_Placed = list[tuple[int, str]]
_Pairs = list[tuple[int, int]]


class Synonyms(Protocol):
    """English words that mean the same."""

    def of(self, word: str) -> frozenset[str]:
        """The single words of every sense of `word`, its base forms' among them; empty for an unknown word."""
        ...


def metric_name(language: Language, synonyms: Synonyms | None) -> str:
    """`meteor`, or `meteor_nowordnet` for English without synonyms. Chinese has none either way."""
    return METEOR if language == "zh" or synonyms is not None else METEOR_NOWORDNET


def meteor(
    prediction: str,
    gold: str,
    language: Language = "en",
    variant: Variant = "standard",
    synonyms: Synonyms | None = None,
) -> float:
    """METEOR of an answer, in [0, 1]; 0 where no word matches.

    English words are nltk's tokens (treebank.py says how they differ from `word_tokenize`), punctuation among
    them. Chinese words are jieba's, without white space; synonyms are not looked up for them. Variants as in
    `meteor_of_words`. Raises BadSettings for what there is not.
    """
    if language == "en":
        cut = _english_words
    elif language == "zh":
        cut, synonyms = _chinese_words, None
    else:
        raise BadSettings(f"meteor has no language {language!r}; it has 'en' and 'zh'")
    return meteor_of_words(cut(prediction), cut(gold), variant, synonyms)


def meteor_of_words(
    said: Sequence[str],
    wanted: Sequence[str],
    variant: Variant = "standard",
    synonyms: Synonyms | None = None,
) -> float:
    """METEOR of an answer in words, in [0, 1].

    `published_code` is nltk's meteor_score to the last bit. It looks synonyms up for stems, so that `hous` has
    none; `standard` looks them up for the words. Raises BadSettings for another variant.
    """
    if variant not in ("standard", "published_code"):
        raise BadSettings(f"meteor has no variant {variant!r}; it has 'standard' and 'published_code'")
    said, wanted = [word.lower() for word in said], [word.lower() for word in wanted]
    pairs: _Pairs = []
    left = _match(list(enumerate(said)), list(enumerate(wanted)), pairs)
    left = _match(_stemmed(left[0]), _stemmed(left[1]), pairs)
    if synonyms is not None:
        if variant == "standard":
            left = [(place, said[place]) for place, _ in left[0]], [(at, wanted[at]) for at, _ in left[1]]
        _match_synonyms(*left, synonyms, pairs)
    if not pairs:
        return 0.0
    matches = len(pairs)
    precision, recall = matches / len(said), matches / len(wanted)
    mean = (precision * recall) / (ALPHA * precision + (1 - ALPHA) * recall)
    penalty = GAMMA * (_runs(pairs) / matches) ** BETA
    return (1 - penalty) * mean


def _match(said: _Placed, wanted: _Placed, pairs: _Pairs) -> tuple[_Placed, _Placed]:
    """Pair equal words, the last with the last; what is left over of both."""
    places = _places(wanted)
    left = []
    for place, word in reversed(said):
        if at := places.get(word):
            pairs.append((place, at.pop()))
        else:
            left.append((place, word))
    free = sorted((at, word) for word, ats in places.items() for at in ats)
    return left[::-1], free


def _match_synonyms(said: _Placed, wanted: _Placed, synonyms: Synonyms, pairs: _Pairs) -> None:
    """Pair each word, the last first, with the last free one that is a synonym of it."""
    places = _places(wanted)
    for place, word in reversed(said):
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


def _runs(pairs: _Pairs) -> int:
    """Runs of matches that are neighbours in both texts."""
    pairs.sort()
    return 1 + sum(
        (after[0] - before[0], after[1] - before[1]) != (1, 1) for before, after in pairwise(pairs)
    )


@lru_cache(maxsize=10_000)
def _english_words(text: str) -> tuple[str, ...]:
    from memflow.metrics.treebank import treebank_words  # noqa: PLC0415  (nltk takes a second to import)

    return tuple(treebank_words(text))


@lru_cache(maxsize=10_000)
def _chinese_words(text: str) -> tuple[str, ...]:
    import rjieba  # noqa: PLC0415  (its dictionary takes a moment)

    return tuple(word for word in rjieba.cut(text) if not word.isspace())
