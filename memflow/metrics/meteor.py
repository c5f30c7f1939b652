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
        split_words = _english_words
    elif language == "zh":
        split_words, synonyms = _chinese_words, None
    else:
        raise BadSettings(f"unknown METEOR language {language!r}. Use 'en' or 'zh'.")
    return _meteor_score(split_words(prediction), split_words(gold), variant, synonyms)


def _meteor_score(
    answer_words: Sequence[str], gold_words: Sequence[str], variant: Variant, synonyms: Synonyms | None
) -> float:
    """Return the score of words, matched exactly, then by stem, then by synonym. Raises BadSettings."""
    if variant not in ("standard", "published_code"):
        raise BadSettings(f"unknown METEOR variant {variant!r}. Use 'standard' or 'published_code'.")
    pairs: _Pairs = []
    answer_rest, gold_rest = _match(list(enumerate(answer_words))[::-1], list(enumerate(gold_words)), pairs)
    answer_rest, gold_rest = _match(_stemmed(answer_rest), _stemmed(gold_rest), pairs)
    if synonyms is not None:
        if variant == "standard":
            answer_rest, gold_rest = (
                [(position, answer_words[position]) for position, _ in answer_rest],
                [(position, gold_words[position]) for position, _ in gold_rest],
            )
        _match_synonyms(answer_rest, gold_rest, synonyms, pairs)
    if not pairs:
        return 0.0
    matches = len(pairs)
    precision, recall = matches / len(answer_words), matches / len(gold_words)
    mean = (precision * recall) / (ALPHA * precision + (1 - ALPHA) * recall)
    penalty = GAMMA * (_chunks(pairs) / matches) ** BETA
    return (1 - penalty) * mean


def _match(answer_words: _Placed, gold_words: _Placed, pairs: _Pairs) -> tuple[_Placed, _Placed]:
    """Add pairs of equal words to `pairs`, starting with the last words. Return the unpaired words.

    `answer_words` is in reverse order, `gold_words` is not.
    """
    gold_positions = _positions_by_word(gold_words)
    answer_rest = []
    for position, word in answer_words:
        if positions := gold_positions.get(word):
            pairs.append((position, positions.pop()))
        else:
            answer_rest.append((position, word))
    return answer_rest, sorted((position, word) for word, rest in gold_positions.items() for position in rest)


def _match_synonyms(answer_words: _Placed, gold_words: _Placed, synonyms: Synonyms, pairs: _Pairs) -> None:
    """Add to `pairs` each word of `answer_words` with its last unpaired synonym, starting with the last word."""
    gold_positions = _positions_by_word(gold_words)
    for position, word in answer_words:
        candidates = [gold_positions[synonym] for synonym in synonyms.of(word) if gold_positions.get(synonym)]
        if candidates:
            pairs.append((position, max(candidates, key=lambda positions: positions[-1]).pop()))


def _positions_by_word(words: _Placed) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = defaultdict(list)
    for position, word in words:
        positions[word].append(position)
    return positions


def _stemmed(words: _Placed) -> _Placed:
    return [(position, stem(word)) for position, word in words]


def _chunks(pairs: _Pairs) -> int:
    """Return the number of chunks: longest runs of matches that are adjacent in both texts."""
    pairs.sort()
    return 1 + sum(next_a != a + 1 or next_g != g + 1 for (a, g), (next_a, next_g) in pairwise(pairs))


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
