"""The search of a memory's entries for a fact that a user took back.

An entry leaks a fact if it contains the value as it is (`exact`) or in another notation (`normalized`), or if one of
its sentences is a `paraphrase` of the fact. Two entries may give the value away together (`combined`).
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from memflow.memories.entries import Item
from memflow.memories.memory import AT_LIMIT, DATE, FAILURE, Embedder
from memflow.memories.server.mirror import READ, SERVER, WRITE
from memflow.metrics.legal.numerals import NUMERAL, parse_numeral
from memflow.words import HAN, search_words

PARAPHRASE, MARGIN = 0.5, 0.12
"""Minimum cosine of a sentence and a wording, and by how much it exceeds that of the wording without its value.

With wordllama 0.4.0, 0 of 2,688 English and 8 of 2,688 Chinese sentences about neighbors count as paraphrases (0 and
0.3 %), and 4 of 12 and 1 of 6 paraphrases that name no value are found: `python -m bench.leaks`, 2026-11-28, on the
words on which both were chosen. Measure another embedder before its figures are used.
"""
NO_EMBEDDER = "no embedder is configured. Choose one in [embedder] of memflow.toml"
RECORDS = frozenset({FAILURE, AT_LIMIT, DATE, SERVER, WRITE, READ})
"""Kinds of entries that are memflow's own records, and not what a memory holds."""

_SENTENCE = re.compile(r"[^.!?;。！？；\n]+[.!?;。！？；]*")
_TOKEN = re.compile(rf"\d+(?:\.\d+)?|[{HAN}]|[^\W\d_{HAN}]+")
_NUMERAL = re.compile(NUMERAL)
_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = [
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_NUMBERS = {word: number for number, word in enumerate((*_ONES, *_TEENS), 1)}
_NUMBERS |= {word: 10 * number for number, word in enumerate(_TENS, 2)}
_TO_99 = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_ONES)}))?|{'|'.join((*_TEENS, *_ONES))})"
_TO_999 = rf"{_TO_99}(?:\shundred(?:\s(?:and\s)?{_TO_99})?)?"
_SPELLED = re.compile(rf"\b{_TO_999}(?:\sthousand(?:\s(?:and\s)?{_TO_999})?)?\b")
"""A number in English words, up to 999,999."""


@dataclass(frozen=True)
class RetractedFact:
    """A fact that a user took back.

    `wordings` are statements of the fact and other names of its value. `neighbors` are statements of similar facts that
    may stay: what is only in them is no leak. `clues` are pairs of texts that together give the value away.
    """

    value: str
    wordings: tuple[str, ...] = ()
    neighbors: tuple[str, ...] = ()
    clues: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class StoreLeak:
    """The ids of the entries that leak a fact, each entry under the first form that applies.

    `paraphrase` is None if it was not searched, with the `reason`.
    """

    exact: tuple[str, ...] = ()
    normalized: tuple[str, ...] = ()
    paraphrase: tuple[str, ...] | None = None
    combined: tuple[tuple[str, str], ...] = ()
    reason: str | None = None

    @property
    def form(self) -> str | None:
        """The first form of the leak, such as `normalized`; None without a leak."""
        forms = ("exact", "normalized", "paraphrase", "combined")
        return next((form for form in forms if getattr(self, form)), None)

    @property
    def entries(self) -> tuple[str, ...]:
        """The ids of all entries that leak the fact, alone or together."""
        pairs = (entry_id for pair in self.combined for entry_id in pair)
        return tuple(dict.fromkeys((*self.exact, *self.normalized, *(self.paraphrase or ()), *pairs)))


async def find_leaks(
    items: Sequence[Item],
    facts: Sequence[RetractedFact],
    embedder: Embedder | None = None,
    *,
    request_ids: Collection[str] = (),
    threshold: float = PARAPHRASE,
) -> list[StoreLeak]:
    """Return how the entries held at a checkpoint leak each fact.

    `request_ids` are the messages that ask to forget, and their replies: an entry of these alone leaks a fact only if
    it names the value. Raises like `Embedder.embed`.
    """
    items = [item for item in items if item.kind not in RECORDS]
    requests = {item.entry_id for item in items if item.sources and {*item.sources} <= {*request_ids}}
    matches = [_named(items, fact) for fact in facts]
    similar: Sequence[set[str] | None] = [None] * len(facts)
    if embedder is not None:
        similar = await _similar(items, facts, embedder, threshold)
    leaks = []
    for fact, (exact, normalized), similar_ids in zip(facts, matches, similar, strict=True):
        candidates = [item for item in items if item.entry_id not in {*exact, *normalized} | requests]
        paraphrase = (
            None
            if similar_ids is None
            else tuple(item.entry_id for item in candidates if item.entry_id in similar_ids)
        )
        candidates = [item for item in candidates if item.entry_id not in (paraphrase or ())]
        reason = NO_EMBEDDER if similar_ids is None else None
        leaks.append(StoreLeak(exact, normalized, paraphrase, _combined(candidates, fact), reason))
    return leaks


def _named(items: Iterable[Item], fact: RetractedFact) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (exact, normalized): the ids of the entries that contain the fact as it is, and in another notation."""
    exact_ids, normalized_ids = [], []
    names = [name for name in (fact.value, *fact.wordings) if name.strip()]
    words = _words(fact.value)
    neighbors = [f" {normalize(neighbor)} " for neighbor in fact.neighbors]
    for item in items:
        text = item.text
        for neighbor in fact.neighbors:
            text = text.replace(neighbor, "\n")
        if any(_bounded(name).search(text) for name in names):
            exact_ids.append(item.entry_id)
            continue
        normalized_text = f" {normalize(text)} "
        for neighbor in neighbors:
            normalized_text = normalized_text.replace(neighbor, " \n ")
        # The words of a value may have another order, as in 14 March 1987 and March 14, 1987.
        if any(f" {normalize(name)} " in normalized_text for name in names) or (
            len(words) > 1
            and any(
                words <= _words(part)
                and not any(neighbor in f" {normalize(part)} " for neighbor in neighbors)
                for part in sentences(text)
            )
        ):
            normalized_ids.append(item.entry_id)
    return tuple(exact_ids), tuple(normalized_ids)


async def _similar(
    items: Sequence[Item], facts: Sequence[RetractedFact], embedder: Embedder, threshold: float
) -> list[set[str] | None]:
    """Return the ids of entries with a sentence near to a wording of each fact, and nearer than to its neighbors.

    It has to be nearer than to the wordings without their value, too: else it may be about another value.
    """
    parts = [(item.entry_id, part) for item in items for part in sentences(item.text)]
    texts = [
        *(part for _, part in parts),
        *(text for fact in facts for text in (*fact.wordings, *fact.neighbors, *_without_value(fact))),
    ]
    distinct_texts = [*dict.fromkeys(texts)]
    if not parts or not distinct_texts:
        return [set() for _ in facts]
    rows = dict(zip(distinct_texts, await embedder.embed(distinct_texts, "passage"), strict=True))
    entry_vectors = np.stack([rows[part] for _, part in parts])
    similar: list[set[str] | None] = []
    for fact in facts:
        cosine, neighbor_cosine, bare_cosine = (
            np.max(entry_vectors @ np.stack([rows[text] for text in group]).T, axis=1)
            if group
            else np.full(len(parts), -1.0)
            for group in (fact.wordings, fact.neighbors, _without_value(fact))
        )
        is_paraphrase = (cosine >= threshold) & (cosine > neighbor_cosine) & (cosine > bare_cosine + MARGIN)
        similar.append({parts[position][0] for position in np.flatnonzero(is_paraphrase)})
    return similar


def _without_value(fact: RetractedFact) -> list[str]:
    return [wording.replace(fact.value, "") for wording in fact.wordings if fact.value in wording]


def _combined(items: Sequence[Item], fact: RetractedFact) -> tuple[tuple[str, str], ...]:
    """Return the pairs of entries that give the value away together: both clues, or the parts of its words.

    Entries with a part of the words count only if both also name the subject: a further word of a wording.
    """
    texts = {item.entry_id: f" {normalize(item.text)} " for item in items}
    pairs = [
        (a, b)
        for clue in fact.clues
        for a in texts
        for b in texts
        if f" {normalize(clue[0])} " in texts[a] and f" {normalize(clue[1])} " in texts[b]
    ]
    value = _words(fact.value)
    subject = {word for wording in fact.wordings for word in _words(wording)} - value
    if len(value) > 1:
        words = {item.entry_id: _words(item.text) for item in items}
        parts = [entry_id for entry_id, terms in words.items() if terms & value and terms & subject]
        pairs += [pair for pair in combinations(parts, 2) if value <= words[pair[0]] | words[pair[1]]]
    return tuple(dict.fromkeys(pairs))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text with their punctuation; a line break ends a sentence, too."""
    return [part.strip() for part in _SENTENCE.findall(text) if part.strip()]


@lru_cache(100_000)
def normalize(text: str) -> str:
    """Return the words of a text, without case, width and punctuation, and with numerals in digits.

    A Chinese character is a word.
    """
    return " ".join(_TOKEN.findall(_with_digits(text)))


@lru_cache(100_000)
def _words(text: str) -> frozenset[str]:
    """Return the words of a text that a search uses, with numerals in digits."""
    return frozenset(search_words(_with_digits(text)))


def _with_digits(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    return _NUMERAL.sub(_digits, _SPELLED.sub(_spelled_digits, text))


def _spelled_digits(number: re.Match[str]) -> str:
    """Return a number that is spelled in English words, in digits."""
    total = part = 0
    for word in re.findall(r"[a-z]+", number[0]):
        if word == "thousand":
            total, part = 1000 * part, 0
        elif word == "hundred":
            part *= 100
        else:
            part += _NUMBERS.get(word, 0)
    return str(total + part)


def _digits(numeral: re.Match[str]) -> str:
    """Return a numeral in digits. A number with Chinese characters becomes a word of its own."""
    text = numeral[0].replace(",", "")
    return text if text.replace(".", "").isascii() else f" {parse_numeral(text)} "


@lru_cache(10_000)
def _bounded(name: str) -> re.Pattern[str]:
    """Return the pattern of a name that is no part of a longer word; Chinese has no limits between words."""
    letter = re.compile(rf"[^\W{HAN}]")
    start_limit = rf"(?<![^\W{HAN}])" if letter.match(name[0]) else ""
    end_limit = rf"(?![^\W{HAN}])" if letter.match(name[-1]) else ""
    return re.compile(start_limit + re.escape(name) + end_limit)
