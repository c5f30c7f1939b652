"""In-process search over the current (not retired) entries of a store: BM25 and exact cosine.

An index processes the changes of its store before each search. Equal scores are ordered by age, oldest first. Scores do
not depend on retired entries, so a restored memory returns the same results.
"""

import math
from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput
from memflow.memories.entries import EntryStore, Item, Vector
from memflow.words import search_words

K1 = 1.2
B = 0.75
FUSION_CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""
FUSED = 100
"""Results of each ranking that a hybrid search fuses at least."""

Scores = npt.NDArray[np.floating[Any]]


class SearchHit(NamedTuple):
    """An entry that a search returns, with its similarity to the query."""

    item: Item
    score: float


H = TypeVar("H", bound=Hashable)
Q = TypeVar("Q")


def fuse(rankings: Iterable[Sequence[H]]) -> dict[H, float]:
    """Return the scores of all items by reciprocal rank fusion: the sum of 1 / (60 + rank) over the rankings."""
    scores: dict[H, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (FUSION_CONSTANT + rank)
    return scores


def fusion_depth(k: int) -> int:
    """Return the number of results of each ranking that a hybrid search for `k` entries fuses."""
    return max(FUSED, 2 * k)


class SearchIndex(ABC, Generic[Q]):
    """The base class of search indexes over a store's current entries; rebuilt when most entries are retired."""

    def __init__(self, store: EntryStore, *kinds: str) -> None:
        self.store = store
        self.kinds = frozenset(kinds)
        self._version = 0
        self._clear()

    def search(self, query: Q, k: int) -> list[Item]:
        """Return the up to `k` best entries for a query, best first."""
        return [hit.item for hit in self.scored(query, k)]

    @abstractmethod
    def scored(self, query: Q, k: int) -> list[SearchHit]:
        """Return the results of `search` with their scores."""

    def follow(self) -> None:
        """Process the changes of the store since the last call."""
        for item in self.store.changes(self._version):
            if item.kind in self.kinds:
                if item.until is None:
                    self._add(item)
                else:
                    self._retired.append(self._numbers.pop(item.entry_id))
                    self._remove_statistics(item)
        self._version = self.store.version
        if len(self._retired) > len(self._numbers) + 64:
            live_items = [self._items[number] for number in self._numbers.values()]
            self._clear()
            for item in live_items:
                self._add(item)

    def _clear(self) -> None:
        """Remove all documents: entries by document number, numbers of current entries by id, and retired numbers."""
        self._items: list[Item] = []
        self._numbers: dict[str, int] = {}
        self._retired: list[int] = []

    def _add(self, item: Item) -> None:
        """Add an entry to the index under the next document number."""
        self._numbers[item.entry_id] = len(self._items)
        self._items.append(item)

    def _remove_statistics(self, item: Item) -> None:
        """Remove a retired entry from the statistics of the index, if it has any."""

    def _best(self, scores: Scores, k: int, above: float) -> list[SearchHit]:
        """Return the up to `k` best current documents with scores > `above`, best first; equal scores oldest first."""
        if k <= 0:
            return []
        if self._retired:
            scores[self._retired] = -np.inf
        numbers = (scores > above).nonzero()[0]
        values = scores[numbers]
        if len(numbers) > k:
            # Sort only the documents that are at least as good as the k-th best: a partition is linear in time.
            partitioned = values.copy()
            partitioned.partition(len(values) - k)
            is_best = (values >= partitioned[len(values) - k]).nonzero()[0]
            numbers, values = numbers[is_best], values[is_best]
        order = (-values).argsort(kind="stable")[:k]
        return [
            SearchHit(self._items[number], score)
            for number, score in zip(numbers[order].tolist(), values[order].tolist(), strict=True)
        ]


class _Postings:
    """The documents that contain a word, the word's count in each, and how many of them are current."""

    __slots__ = ("counts", "living", "numbers")

    def __init__(self) -> None:
        self.numbers = array("q")
        self.counts = array("d")
        self.living = 0


@lru_cache(maxsize=4096)
def _word_counts(text: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the number of words in a text and the count of each; cached, since restored memories share texts."""
    words = search_words(text)
    return len(words), tuple(Counter(words).items())


class Bm25(SearchIndex[str]):
    """A BM25 index with Lucene's formula (k1 1.2, b 0.75, non-negative inverse document frequency).

    It finds entries that share a word with the query.
    """

    def scored(self, query: str, k: int) -> list[SearchHit]:
        """Return the results of `search` with their scores."""
        self.follow()
        scores = np.zeros(len(self._items))
        document_count = len(self._numbers)
        if document_count == 0 or self._total == 0:
            return []
        lengths = np.frombuffer(self._lengths)
        # BM25's length normalization: K1 * (1 - B + B * length / mean length).
        norms = K1 * (1 - B) + lengths * (K1 * B * document_count / self._total)
        for word, count_in_query in Counter(search_words(query)).items():
            postings = self._words.get(word)
            if postings is None or postings.living == 0:
                continue
            inverse_frequency = math.log(
                1 + (document_count - postings.living + 0.5) / (postings.living + 0.5)
            )
            numbers = np.frombuffer(postings.numbers, np.int64)
            counts = np.frombuffer(postings.counts)
            scores[numbers] += count_in_query * inverse_frequency * counts / (counts + norms[numbers])
        return self._best(scores, k, 0.0)

    def _clear(self) -> None:
        """Remove all documents: also the postings of each word, the lengths in words, and their sum."""
        super()._clear()
        self._words: dict[str, _Postings] = {}
        self._lengths = array("d")
        self._total = 0

    def _add(self, item: Item) -> None:
        """Add an entry to the postings of its words."""
        length, counts = _word_counts(item.text)
        self._lengths.append(length)
        self._total += length
        for word, count in counts:
            postings = self._words.get(word)
            if postings is None:
                postings = self._words[word] = _Postings()
            postings.numbers.append(len(self._items))
            postings.counts.append(count)
            postings.living += 1
        super()._add(item)

    def _remove_statistics(self, item: Item) -> None:
        length, counts = _word_counts(item.text)
        self._total -= length
        for word, _ in counts:
            self._words[word].living -= 1


class Dense(SearchIndex[Vector]):
    """An exact index by cosine similarity over the entries' vectors of length 1."""

    def scored(self, query: Vector, k: int) -> list[SearchHit]:
        """Return the results of `search` with their cosines; all entries if `k` is at least the number of entries."""
        self.follow()
        if not self._items:
            return []
        if query.shape != self._matrix.shape[1:]:
            raise BadInput(self._misfit("the query", query))
        # einsum adds row by row. BLAS depends on the number of rows, which would change the last bit of a score.
        cosines = np.einsum("ij,j->i", self._matrix[: len(self._items)], query)
        return self._best(np.asarray(cosines), k, -math.inf)

    def _clear(self) -> None:
        """Remove all documents: also the matrix that has a row for each, and spare rows."""
        super()._clear()
        self._matrix: npt.NDArray[np.float32] = np.empty((0, 0), np.float32)

    def _add(self, item: Item) -> None:
        """Add an entry and its vector to the index. Raises BadInput for an entry without a vector that fits."""
        number = len(self._items)
        if item.vector is None:
            raise BadInput(f"entry {item.entry_id} has no vector. Rerun the memory with an embedder.")
        if number == 0:
            self._matrix = np.empty((64, len(item.vector)), np.float32)
        elif number == len(self._matrix):
            self._matrix = np.concatenate((self._matrix, np.empty_like(self._matrix)))
        if item.vector.shape != self._matrix.shape[1:]:
            raise BadInput(self._misfit(f"entry {item.entry_id}", item.vector))
        self._matrix[number] = item.vector
        super()._add(item)

    def _misfit(self, owner: str, vector: Vector) -> str:
        return (
            f"{owner} has a vector of {vector.shape[-1]} numbers, but other vectors have "
            f"{self._matrix.shape[1]}. Rerun the memory with a single embedder."
        )
