"""In-process search over the current (not retired) entries of a store: BM25 and exact cosine.

An index processes the changes of its store before each search. Equal scores are ordered by age, oldest first. Scores do
not depend on retired entries, so a restored memory returns the same results.

The stores of one episode that are restored for different checkpoints share documents: an index takes over those of a
former index that is no longer in use, and processes the difference. So an episode is indexed once, however many of its
checkpoints have probes.
"""

import math
import weakref
from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
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


@dataclass
class _Documents:
    """The indexed entries by document number, the numbers of current entries by id, and the numbers of retired ones."""

    items: list[Item] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    retired: list[int] = field(default_factory=list)


D = TypeVar("D", bound=_Documents)


class SearchIndex(ABC, Generic[D]):
    """The base class of search indexes over a store's current entries; rebuilt when most entries are retired."""

    def __init__(self, store: EntryStore, *kinds: str) -> None:
        self.store = store
        self.kinds = frozenset(kinds)
        self._version = 0
        self._documents = self._empty()

    def follow(self) -> None:
        """Process the changes of the store since the last call."""
        if self._version == self.store.version:
            return
        if self._version == 0 and self.store.indexes is not None and self.store.is_as_restored:
            self._share(self.store.indexes)
        else:
            self._withdraw()
            self._process_changes()
        self._version = self.store.version
        documents = self._documents
        if len(documents.retired) > len(documents.numbers) + 64:
            self._rebuild([documents.items[number] for number in documents.numbers.values()])

    def _share(self, indexes: dict[Any, Any]) -> None:
        """Reuse the documents of an earlier, deleted index of the store, and register those of this index.

        Documents of a later moment lack entries that are older than others, and equal scores are ordered by age.
        """
        key = type(self), self.kinds
        owner, sequence, documents = indexes.get(key, (None, 0, None))
        if owner is not None and owner() is None and sequence <= self.store.sequence:
            self._documents = documents
            self._process_difference()
        else:
            self._process_changes()
        indexes[key] = weakref.ref(self), self.store.sequence, self._documents

    def _withdraw(self) -> None:
        """Offer the documents no longer, because the store has changes that other stores do not have."""
        shared = self.store.indexes or {}
        for key, (_, _, documents) in [*shared.items()]:
            if documents is self._documents:
                del shared[key]

    def _process_changes(self) -> None:
        for item in self.store.changes(self._version):
            if item.kind in self.kinds:
                if item.until is None:
                    self._add(item)
                else:
                    self._retire(item.entry_id, item)

    def _process_difference(self) -> None:
        """Retire the documents that the store does not have, and add those that only the store has."""
        documents = self._documents
        current = self.store.live(*self.kinds)
        ids = {item.entry_id for item in current}
        retired_ids = [entry_id for entry_id in documents.numbers if entry_id not in ids]
        for entry_id in retired_ids:
            self._retire(entry_id, documents.items[documents.numbers[entry_id]])
        for item in current:
            if item.entry_id not in documents.numbers:
                self._add(item)

    def _add(self, item: Item) -> None:
        documents = self._documents
        number = documents.numbers[item.entry_id] = len(documents.items)
        documents.items.append(item)
        self._index(number, item)

    def _retire(self, entry_id: str, item: Item) -> None:
        number = self._documents.numbers.pop(entry_id)
        self._documents.retired.append(number)
        self._remove_statistics(number, item)

    def _rebuild(self, items: list[Item]) -> None:
        """Index only these entries. The documents stay the same object, which `_share` may have offered."""
        vars(self._documents).update(vars(self._empty()))
        for item in items:
            self._add(item)

    @abstractmethod
    def _empty(self) -> D:
        """Return the documents of an empty index."""

    @abstractmethod
    def _index(self, number: int, item: Item) -> None:
        """Add an entry to the index under a document number that is larger than all former numbers."""

    @abstractmethod
    def _remove_statistics(self, number: int, item: Item) -> None:
        """Remove a retired entry from the statistics of the index."""

    def _best(self, scores: Scores, k: int, above: float) -> list[SearchHit]:
        """Return the `k` best current documents with scores above `above`, best first; equal scores oldest first."""
        if k <= 0:
            return []
        if self._documents.retired:
            scores[self._documents.retired] = -np.inf
        numbers = (scores > above).nonzero()[0]
        values = scores[numbers]
        if len(numbers) > k:
            # Sort only the documents that are at least as good as the k-th best: a partition is linear in time.
            partitioned = values.copy()
            partitioned.partition(len(values) - k)
            best = (values >= partitioned[len(values) - k]).nonzero()[0]
            numbers, values = numbers[best], values[best]
        ranked = (-values).argsort(kind="stable")[:k]
        items = self._documents.items
        return [
            SearchHit(items[number], score)
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
def _word_counts(text: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the number of words in a text and the count of each; cached, since restored memories share texts."""
    words = search_words(text)
    return len(words), tuple(Counter(words).items())


@dataclass
class _WordDocuments(_Documents):
    """Documents with the postings of each word, their lengths in words, and the sum of the current ones' lengths."""

    words: dict[str, _Postings] = field(default_factory=dict)
    lengths: "array[float]" = field(default_factory=lambda: array("d"))
    total: int = 0


class Bm25(SearchIndex[_WordDocuments]):
    """A BM25 index with Lucene's formula (k1 1.2, b 0.75, non-negative inverse document frequency)."""

    def search(self, query: str, k: int) -> list[Item]:
        """Return up to `k` entries that share a word with `query`, best first."""
        return [hit.item for hit in self.scored(query, k)]

    def scored(self, query: str, k: int) -> list[SearchHit]:
        """Return the results of `search` with their scores."""
        self.follow()
        documents = self._documents
        scores = np.zeros(len(documents.items))
        current = len(documents.numbers)
        if current == 0 or documents.total == 0:
            return []
        lengths = np.frombuffer(documents.lengths)
        # BM25's length normalization: K1 * (1 - B + B * length / mean length).
        norms = K1 * (1 - B) + lengths * (K1 * B * current / documents.total)
        for word, count_in_query in Counter(search_words(query)).items():
            postings = documents.words.get(word)
            if postings is None or postings.living == 0:
                continue
            inverse_frequency = math.log(1 + (current - postings.living + 0.5) / (postings.living + 0.5))
            numbers = np.frombuffer(postings.numbers, np.int64)
            counts = np.frombuffer(postings.counts)
            scores[numbers] += count_in_query * inverse_frequency * counts / (counts + norms[numbers])
        return self._best(scores, k, 0.0)

    def _empty(self) -> _WordDocuments:
        return _WordDocuments()

    def _index(self, number: int, item: Item) -> None:
        length, counts = _word_counts(item.text)
        documents = self._documents
        documents.lengths.append(length)
        documents.total += length
        words = documents.words
        for word, count in counts:
            postings = words.get(word)
            if postings is None:
                postings = words[word] = _Postings()
            postings.numbers.append(number)
            postings.counts.append(count)
            postings.living += 1

    def _remove_statistics(self, number: int, item: Item) -> None:
        length, counts = _word_counts(item.text)
        self._documents.total -= length
        for word, _ in counts:
            self._documents.words[word].living -= 1


@dataclass
class _VectorDocuments(_Documents):
    """Documents with a matrix that has a row for each, and spare rows."""

    matrix: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))


class Dense(SearchIndex[_VectorDocuments]):
    """An exact index by cosine similarity over the entries' vectors of length 1."""

    def search(self, query: Vector, k: int) -> list[Item]:
        """Return the `k` entries nearest to the unit vector `query`, nearest first."""
        return [hit.item for hit in self.scored(query, k)]

    def scored(self, query: Vector, k: int) -> list[SearchHit]:
        """Return the results of `search` with their cosines; all entries if `k` is at least the number of entries."""
        self.follow()
        if not self._documents.items:
            return []
        if query.shape != self._documents.matrix.shape[1:]:
            raise BadInput(self._misfit("the query", query))
        return self._best(self._cosines(query), k, -math.inf)

    def _cosines(self, query: Vector) -> Scores:
        # einsum adds row by row. BLAS depends on the number of rows, which would change the last bit of a score.
        return np.asarray(np.einsum("ij,j->i", self._documents.matrix[: len(self._documents.items)], query))

    def _empty(self) -> _VectorDocuments:
        return _VectorDocuments()

    def _index(self, number: int, item: Item) -> None:
        if item.vector is None:
            raise BadInput(f"entry {item.entry_id} has no vector. Rerun the memory with an embedder.")
        documents = self._documents
        if number == 0:
            documents.matrix = np.empty((64, len(item.vector)), np.float32)
        elif number == len(documents.matrix):
            documents.matrix = np.concatenate((documents.matrix, np.empty_like(documents.matrix)))
        if item.vector.shape != documents.matrix.shape[1:]:
            raise BadInput(self._misfit(f"entry {item.entry_id}", item.vector))
        documents.matrix[number] = item.vector

    def _remove_statistics(self, number: int, item: Item) -> None:
        """Do nothing, since this index has no statistics."""

    def _misfit(self, owner: str, vector: Vector) -> str:
        return (
            f"{owner} has a vector of {vector.shape[-1]} numbers, but other vectors have "
            f"{self._documents.matrix.shape[1]}. Rerun the memory with a single embedder."
        )
