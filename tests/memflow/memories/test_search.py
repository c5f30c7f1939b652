"""BM25 against its formula, and cosine search against brute force, after additions and retirements."""

import math
import random
from typing import Any

import numpy as np
import pytest

from memflow.errors import BadInput
from memflow.fingerprint import seeded
from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.search import Bm25, Dense
from memflow.words import search_words

VOCABULARY = [f"word{number}" for number in range(40)]


def formula(query: str, items: list[Item]) -> dict[str, float]:
    """Return the BM25 score of every entry, computed term by term from Lucene's definition."""
    documents = {item.entry_id: search_words(item.text) for item in items}
    average = sum(map(len, documents.values())) / len(documents)
    scores = {}
    for entry_id, words in documents.items():
        score = 0.0
        for term in search_words(query):
            holding = sum(term in other for other in documents.values())
            idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            count = words.count(term)
            score += idf * count / (count + 1.2 * (1 - 0.75 + 0.75 * len(words) / average))
        scores[entry_id] = score
    return scores


def filled(chance: random.Random, entries: int, *, vectors: bool = False) -> EntryStore:
    store = EntryStore()
    for _ in range(entries):
        words = chance.choices(VOCABULARY, k=chance.randint(0, 12))
        vector = None
        if vectors:
            raw = np.asarray([chance.gauss(0, 1) for _ in range(16)], np.float32)
            vector = (raw / np.linalg.norm(raw)).astype(np.float32)
        store.add("message", " ".join(words), sources=(), vector=vector)
    return store


@pytest.mark.parametrize("seed", range(5))
def test_bm25_scores_match_formula_after_additions_and_retirements(seed: int) -> None:
    chance = random.Random(seeded("bm25", seed))
    store = filled(chance, 30)
    index = Bm25(store, "message")
    for _ in range(40):
        query = " ".join(chance.choices(VOCABULARY, k=4))
        scores = formula(query, store.live())
        found = index.search(query, 5)
        positive = sorted((score for score in scores.values() if score > 0), reverse=True)
        assert [scores[item.entry_id] for item in found] == pytest.approx(positive[:5])
        for gone in chance.sample(store.live(), 3):
            store.retire(gone.entry_id)
        for _ in range(chance.choice([1, 5])):
            store.add("message", " ".join(chance.choices(VOCABULARY, k=6)), sources=())


def test_bm25_puts_older_entry_first_on_ties_and_omits_entries_without_query_words() -> None:
    store = EntryStore()
    for text in ["green tea", "black coffee", "green tea", "green tea", "red wine"]:
        store.add("message", text, sources=())
    index = Bm25(store, "message")
    assert [item.order for item in index.search("green tea", 2)] == [0, 2]
    assert [item.order for item in index.search("green tea", 10)] == [0, 2, 3]
    assert [index.search(query, 10) for query in ("beer", "", "the of and")] == [[], [], []]
    assert index.search("green", 0) == []


@pytest.mark.parametrize("seed", range(5))
def test_index_that_follows_its_store_returns_what_a_new_index_returns(seed: int) -> None:
    chance, store = random.Random(seeded("followed", seed)), EntryStore()
    lexical, dense = Bm25(store, "message"), Dense(store, "message")
    for number in range(200):
        store.advance(1)
        vector = np.asarray([chance.gauss(0, 1) for _ in range(4)], np.float32)
        text = " ".join(chance.choices(VOCABULARY[:8], k=3))  # few words, so that many scores are equal
        store.add("message", text, sources=(), vector=vector / np.linalg.norm(vector))
        if chance.random() < 0.9:  # most are retired, so that the index is rebuilt
            store.retire(chance.choice(store.live()).entry_id)
        if number % 20 == 0:
            assert lexical.scored("word1 word2", 9) == Bm25(store.fork(), "message").scored("word1 word2", 9)
            assert dense.scored(vector, 9) == Dense(store.fork(), "message").scored(vector, 9)


@pytest.mark.parametrize("seed", range(5))
def test_indexes_that_share_documents_return_what_separate_indexes_return(seed: int) -> None:
    chance, store = random.Random(seeded("shared", seed)), EntryStore()
    for number in range(120):
        store.advance(1)
        vector = np.asarray([chance.gauss(0, 1) for _ in range(4)], np.float32).round()
        store.add("message", f"word{number % 5} word{number % 7}", sources=(), vector=vector)
        if number % 3:
            store.revise(chance.choice(store.live()), text=f"word{number % 4}", vector=vector)
    documents: dict[Any, Any] = {}
    for sequence in chance.sample(range(121), 12):
        sharing = EntryStore.restored(list(store), sequence, documents)
        separate = EntryStore.restored(list(store), sequence)
        for query in ("word1 word2", "word3"):
            assert Bm25(sharing, "message").scored(query, 9) == Bm25(separate, "message").scored(query, 9)
        assert Dense(sharing, "message").scored(vector, 9) == Dense(separate, "message").scored(vector, 9)
    assert len(documents[Bm25, frozenset({"message"})].items) < 2 * 120


def test_dense_search_returns_the_same_entries_as_brute_force() -> None:
    store = filled(random.Random(seeded("dense")), 200, vectors=True)
    index = Dense(store, "message")
    items = store.live()
    vectors = np.stack([item.vector for item in items if item.vector is not None])
    for query in vectors[:20]:
        nearest = np.argsort(-(vectors.astype(np.float64) @ query.astype(np.float64)))[:7]
        assert index.search(query, 7) == [items[at] for at in nearest]


def test_cosine_similarity_does_not_depend_on_other_entries() -> None:
    raw = np.random.default_rng(7).normal(size=(2, 300)).astype(np.float32)
    same, query = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    store, seen = EntryStore(), set()
    for count in range(1, 132):
        store.add("message", "twin", sources=(), vector=same.copy())
        index = Dense(store, "message")
        assert [item.order for item in index.search(query, count)] == list(range(count))
        seen |= {hit.score for hit in index.scored(query, count)}
    assert len(seen) == 1


def test_dense_search_rejects_missing_vectors_and_vectors_of_different_size() -> None:
    store = EntryStore()
    unit: Vector = np.eye(1, 4, dtype=np.float32)[0]
    assert Dense(store, "message").search(unit, 3) == []
    store.add("message", "a", sources=(), vector=unit)
    with pytest.raises(BadInput, match=r"the query has a vector of 3 numbers, but other vectors have 4"):
        Dense(store, "message").search(unit[:3], 3)
    store.add("message", "b", sources=())
    with pytest.raises(BadInput, match="message-1 has no vector"):
        Dense(store, "message").search(unit, 3)
