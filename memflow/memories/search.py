"""In-process search over the current (not retired) entries of a store: BM25 and exact cosine.

An index processes the changes of its store before each search. Equal scores are ordered by age, oldest first. Scores do
not depend on retired entries, so a restored memory returns the same results.

The stores that are restored for the checkpoints of an episode share documents, so that each entry is indexed once.
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
    """Return the reciprocal rank fusion of each item: the sum of 1 / (60 + rank) over the rankings, ranks from 1."""
    scores: dict[H, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (FUSION_CONSTANT + rank)
    return scores


def fusion_depth(k: int) -> int:
    """Return the number of results of each ranking that a hybrid search for `k` entries fuses."""
    return max(FUSED, 2 * k)


class Documents:
    """The entries that were indexed, with a number each. All stores that share entries use the same documents."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.orders = array("q")
        self._numbers: dict[tuple[str, str], int] = {}

    def number(self, item: Item) -> int:
        """Return the document number of an entry, which is added if it is new."""
        key = item.entry_id, item.text
        number = self._numbers.get(key)
        if number is None:
            self._add(item)
            number = self._numbers[key] = len(self.items)
            self.items.append(item)
            self.orders.append(item.order)
        return number

    def _add(self, item: Item) -> None:
        """Add the data that a search needs of an entry. Its number is the number of entries before it."""


D = TypeVar("D", bound=Documents)


class SearchIndex(ABC, Generic[D, Q]):
    """The base class of search indexes over a store's current entries; rebuilt when most entries are retired."""

    documents: type[D]

    def __init__(self, store: EntryStore, *kinds: str) -> None:
        self.store = store
        self.kinds = frozenset(kinds)
        self._version = 0
        self._retired_count = 0
        self._numbers: dict[str, int] = {}  # document numbers of current entries by id
        self._is_current = bytearray()  # 1 for each current document, by number
        self._documents: D = store.documents.setdefault((type(self), self.kinds), self.documents())

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
                    self._is_current[self._numbers.pop(item.entry_id)] = 0
                    self._retired_count += 1
        self._version = self.store.version
        if self._retired_count > len(self._numbers) + 64:
            live_items = [self._documents.items[number] for number in self._numbers.values()]
            self._documents = self.store.documents[type(self), self.kinds] = self.documents()
            self._retired_count = 0
            self._is_current.clear()
            for item in live_items:
                self._add(item)

    def _add(self, item: Item) -> None:
        number = self._numbers[item.entry_id] = self._documents.number(item)
        if number >= len(self._is_current):
            self._is_current.extend(bytes(len(self._documents.items) - len(self._is_current)))
        self._is_current[number] = 1

    def _current(self) -> npt.NDArray[np.bool_]:
        """Return whether each document is a current entry of the store: an array with an element per document."""
        self._is_current.extend(bytes(len(self._documents.items) - len(self._is_current)))
        return np.frombuffer(self._is_current, np.bool_)

    def _best(self, scores: Scores, k: int, above: float) -> list[SearchHit]:
        """Return the up to `k` best documents with scores > `above`, best first; equal scores oldest first."""
        if k <= 0:
            return []
        numbers = (scores > above).nonzero()[0]
        values = scores[numbers]
        if len(numbers) > k:
            # Sort only the documents that are at least as good as the k-th best: a partition is linear in time.
            partitioned = values.copy()
            partitioned.partition(len(values) - k)
            is_best = (values >= partitioned[len(values) - k]).nonzero()[0]
            numbers, values = numbers[is_best], values[is_best]
        orders = np.frombuffer(self._documents.orders, np.int64)[numbers]
        ranking = np.lexsort((orders, -values))[:k]
        return [
            SearchHit(self._documents.items[number], score)
            for number, score in zip(numbers[ranking].tolist(), values[ranking].tolist(), strict=True)
        ]


@lru_cache(maxsize=4096)
def _word_counts(text: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the number of words in a text and the count of each; cached, since memories share texts."""
    words = search_words(text)
    return len(words), tuple(Counter(words).items())


class WordDocuments(Documents):
    """Documents with their lengths in words and, for each word, the documents with it and its count in each."""

    def __init__(self) -> None:
        super().__init__()
        self.lengths = array("d")
        self.postings: dict[str, tuple[array[int], array[float]]] = {}

    def _add(self, item: Item) -> None:
        length, counts = _word_counts(item.text)
        self.lengths.append(length)
        for word, count in counts:
            if word not in self.postings:
                self.postings[word] = array("q"), array("d")
            numbers, word_counts = self.postings[word]
            numbers.append(len(self.items))
            word_counts.append(count)


class Bm25(SearchIndex[WordDocuments, str]):
    """A BM25 index with Lucene's formula (k1 1.2, b 0.75, non-negative inverse document frequency).

    It finds entries that share a word with the query.
    """

    documents = WordDocuments

    def scored(self, query: str, k: int) -> list[SearchHit]:
        """Return the results of `search` with their scores."""
        self.follow()
        document_count, is_current = len(self._numbers), self._current()
        lengths = np.frombuffer(self._documents.lengths)
        total_length = lengths[is_current].sum()
        if total_length == 0:
            return []
        scores = np.zeros(len(lengths))
        # BM25's length normalization: K1 * (1 - B + B * length / mean length).
        norms = K1 * (1 - B) + lengths * (K1 * B * document_count / total_length)
        for word, count_in_query in Counter(search_words(query)).items():
            if word not in self._documents.postings:
                continue
            numbers = np.frombuffer(self._documents.postings[word][0], np.int64)
            counts = np.frombuffer(self._documents.postings[word][1])[is_current[numbers]]
            numbers = numbers[is_current[numbers]]
            inverse_frequency = math.log(1 + (document_count - len(numbers) + 0.5) / (len(numbers) + 0.5))
            scores[numbers] += count_in_query * inverse_frequency * counts / (counts + norms[numbers])
        return self._best(scores, k, 0.0)


class VectorDocuments(Documents):
    """Documents with a matrix that has a row for each, and spare rows."""

    def __init__(self) -> None:
        super().__init__()
        self.matrix: npt.NDArray[np.float32] = np.empty((0, 0), np.float32)

    def _add(self, item: Item) -> None:
        """Add the entry's vector to the matrix. Raises BadInput for an entry without a vector that fits."""
        number = len(self.items)
        if item.vector is None:
            raise BadInput(f"entry {item.entry_id} has no vector. Rerun the memory with an embedder.")
        if number == 0:
            self.matrix = np.empty((64, len(item.vector)), np.float32)
        elif number == len(self.matrix):
            self.matrix = np.concatenate((self.matrix, np.empty_like(self.matrix)))
        self.require_fit(f"entry {item.entry_id}", item.vector)
        self.matrix[number] = item.vector

    def require_fit(self, owner: str, vector: Vector) -> None:
        """Raise BadInput if `vector`, of the entry or query `owner`, has another size than the rows of the matrix."""
        if vector.shape != self.matrix.shape[1:]:
            raise BadInput(
                f"{owner} has a vector of {vector.shape[-1]} numbers, but other vectors have "
                f"{self.matrix.shape[1]}. Rerun the memory with a single embedder."
            )


class Dense(SearchIndex[VectorDocuments, Vector]):
    """An exact index by cosine similarity over the entries' vectors of length 1."""

    documents = VectorDocuments

    def scored(self, query: Vector, k: int) -> list[SearchHit]:
        """Return the results of `search` with their cosines; all entries if `k` is at least the number of entries."""
        self.follow()
        if not self._numbers:
            return []
        self._documents.require_fit("the query", query)
        # einsum adds row by row. BLAS depends on the number of rows, which would change the last bit of a score.
        cosines = np.asarray(
            np.einsum("ij,j->i", self._documents.matrix[: len(self._documents.items)], query)
        )
        cosines[~self._current()] = -math.inf
        return self._best(cosines, k, -math.inf)
