"""In-process search over the current (not retired) entries of a store: BM25 and exact cosine.

An index processes the changes of its store before each search. Equal scores are ordered by age, oldest first. Scores do
not depend on retired entries, so a restored memory returns the same results.
"""

import math
from abc import ABC, abstractmethod
from array import array
from collections import Counter
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput
from memflow.memories.entries import EntryStore, Item, Vector
from memflow.words import search_words

K1 = 1.2
B = 0.75

Scores = npt.NDArray[np.floating[Any]]


class SearchHit(NamedTuple):
    """An entry that a search returns, with its similarity to the query."""

    item: Item
    score: float


class SearchIndex(ABC):
    """The base class of search indexes over a store's current entries; rebuilt when most entries are retired."""

    def __init__(self, store: EntryStore, *kinds: str) -> None:
        self.store = store
        self.kinds = frozenset(kinds)
        self._version = 0
        self._clear()

    def follow(self) -> None:
        """Process the changes of the store since the last call."""
        if self._version == self.store.version:
            return
        for item in self.store.changes(self._version):
            if item.kind not in self.kinds:
                continue
            if item.until is None:
                self._take(item)
            else:
                number = self._numbers.pop(item.entry_id)
                self._dead.append(number)
                self._drop(number, item)
        self._version = self.store.version
        if len(self._dead) > len(self._numbers) + 64:
            living = [self._items[number] for number in self._numbers.values()]
            self._clear()
            for item in living:
                self._take(item)

    def _take(self, item: Item) -> None:
        number = self._numbers[item.entry_id] = len(self._items)
        self._items.append(item)
        self._index(number, item)

    def _clear(self) -> None:
        self._items: list[Item] = []
        self._numbers: dict[str, int] = {}
        self._dead: list[int] = []

    @abstractmethod
    def _index(self, number: int, item: Item) -> None:
        """Add an entry to the index under a document number that is larger than all former numbers."""

    @abstractmethod
    def _drop(self, number: int, item: Item) -> None:
        """Remove a retired entry from the statistics of the index."""

    def _best(self, scores: Scores, k: int, above: float) -> list[SearchHit]:
        """Return the `k` best current documents with scores above `above`, best first; equal scores oldest first."""
        if self._dead:
            scores[self._dead] = -np.inf
        numbers = (scores > above).nonzero()[0]
        if k <= 0:
            return []
        values = scores[numbers]
        if len(numbers) > k:
            ordered = values.copy()
            ordered.partition(len(values) - k)
            chosen = (values >= ordered[len(values) - k]).nonzero()[0]
            numbers, values = numbers[chosen], values[chosen]
        ranked = (-values).argsort(kind="stable")[:k]
        return [
            SearchHit(self._items[number], score)
            for number, score in zip(numbers[ranked].tolist(), values[ranked].tolist(), strict=True)
        ]


class _Postings:
    """The documents that contain a word, the word's count in each, and how many of them are current."""

    __slots__ = ("counts", "living", "numbers")

    def __init__(self) -> None:
        self.numbers = array("q")
        self.counts = array("d")
        self.living = 0


@lru_cache(maxsize=4096)
def _counted(text: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the number of words in a text and the count of each; cached, since restored memories share texts."""
    words = search_words(text)
    return len(words), tuple(Counter(words).items())


class Bm25(SearchIndex):
    """A BM25 index with Lucene's formula (k1 1.2, b 0.75, non-negative inverse document frequency)."""

    def search(self, query: str, k: int) -> list[Item]:
        """Return up to `k` entries that share a word with `query`, best first."""
        return [found.item for found in self.scored(query, k)]

    def scored(self, query: str, k: int) -> list[SearchHit]:
        """Return the results of `search` with their scores."""
        self.follow()
        scores = np.zeros(len(self._items))
        living = len(self._numbers)
        if living == 0 or self._total == 0:
            return []
        lengths = np.frombuffer(self._lengths)
        norms = K1 * (1 - B) + lengths * (K1 * B * living / self._total)
        for word, times in Counter(search_words(query)).items():
            postings = self._words.get(word)
            if postings is None or postings.living == 0:
                continue
            weight = times * math.log(1 + (living - postings.living + 0.5) / (postings.living + 0.5))
            numbers = np.frombuffer(postings.numbers, np.int64)
            counts = np.frombuffer(postings.counts)
            scores[numbers] += weight * counts / (counts + norms[numbers])
        return self._best(scores, k, 0.0)

    def _clear(self) -> None:
        super()._clear()
        self._words: dict[str, _Postings] = {}
        self._lengths = array("d")
        self._total = 0

    def _index(self, number: int, item: Item) -> None:
        length, counts = _counted(item.text)
        self._lengths.append(length)
        self._total += length
        for word, count in counts:
            postings = self._words.get(word)
            if postings is None:
                postings = self._words[word] = _Postings()
            postings.numbers.append(number)
            postings.counts.append(count)
            postings.living += 1

    def _drop(self, number: int, item: Item) -> None:
        length, counts = _counted(item.text)
        self._total -= length
        for word, _ in counts:
            self._words[word].living -= 1


class Dense(SearchIndex):
    """An exact index by cosine similarity over the entries' vectors of length 1."""

    def search(self, query: Vector, k: int) -> list[Item]:
        """Return the `k` entries nearest to the unit vector `query`, nearest first."""
        return [found.item for found in self.scored(query, k)]

    def scored(self, query: Vector, k: int) -> list[SearchHit]:
        """Return the results of `search` with their cosines; all entries if `k` is at least the number of entries."""
        self.follow()
        if not self._items:
            return []
        if query.shape != self._matrix.shape[1:]:
            raise BadInput(self._misfit("the query", query))
        return self._best(self._cosines(query), k, -math.inf)

    def _cosines(self, query: Vector) -> Scores:
        # einsum adds up row by row; BLAS goes by the number of rows, and with it the last bit of a score.
        return np.asarray(np.einsum("ij,j->i", self._matrix[: len(self._items)], query))

    def _clear(self) -> None:
        super()._clear()
        self._matrix = np.empty((0, 0), np.float32)

    def _index(self, number: int, item: Item) -> None:
        if item.vector is None:
            raise BadInput(f"entry {item.entry_id} has no vector. Rerun the memory with an embedder.")
        if number == 0:
            self._matrix = np.empty((64, len(item.vector)), np.float32)
        elif number == len(self._matrix):
            self._matrix = np.concatenate((self._matrix, np.empty_like(self._matrix)))
        if item.vector.shape != self._matrix.shape[1:]:
            raise BadInput(self._misfit(f"entry {item.entry_id}", item.vector))
        self._matrix[number] = item.vector

    def _drop(self, number: int, item: Item) -> None:
        """Do nothing, since this index has no statistics."""

    def _misfit(self, what: str, vector: Vector) -> str:
        return (
            f"{what} has a vector of {vector.shape[-1]} numbers, but other vectors have {self._matrix.shape[1]}."
            " Rerun the memory with a single embedder."
        )
