"""An embedder without a model: signed feature hashing (Weinberger et al. 2009) of words and character trigrams.

The vectors represent words and word forms, not meaning. This embedder is the default with the scripted chat.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from memflow.fingerprint import digest
from memflow.labels import HASHING
from memflow.memories.entries import Vector
from memflow.memories.memory import InputType
from memflow.words import search_words

VERSION = 1
_CACHED_WORDS = 32_768
_CACHED_TEXTS = 4096
"""Few texts repeat, but these often: a question is embedded at every checkpoint."""


class HashingEmbedder:
    """An embedder by feature hashing. The vector of a text does not depend on the machine or the batch."""

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions
        self.name = f"{HASHING}-{dimensions}"
        self.fingerprint = digest(self.name, VERSION)
        self._word_vector = lru_cache(_CACHED_WORDS)(self._hash_word)
        self._text_vector = lru_cache(_CACHED_TEXTS)(self._embed_text)

    async def embed(self, texts: Sequence[str], input_type: InputType | None = None) -> Vector:
        """Return a float32 array of shape (len(texts), dimensions) with rows of length 1.

        Queries and passages are embedded alike.
        """
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._text_vector(text)
        return vectors

    def _embed_text(self, text: str) -> Vector:
        """Return the vector of a text: the sum of the vectors of its words, of length 1."""
        counts = Counter(search_words(text)) or Counter([""])
        weights = 1 + np.log(np.fromiter(counts.values(), np.float32, len(counts)))
        # Summed row by row, never by BLAS, so that other texts in the batch do not change the last bit.
        vectors = np.concatenate([self._word_vector(word) for word in counts]).reshape(
            len(counts), self.dimensions
        )
        summed = np.add.reduce(vectors * weights[:, None], axis=0)
        length = np.sqrt(np.add.reduce(summed * summed))
        if length == 0:
            # The features of the words cancel out: embed the text as an empty one.
            return self._text_vector("")
        return np.asarray(summed / length, np.float32)

    def _hash_word(self, word: str) -> Vector:
        """Return the vector of a word, hashed from the word and its letter trigrams."""
        vector = np.zeros(self.dimensions, np.float32)
        # Long words are rarer than short ones, so the length approximates an inverse document frequency.
        weight = max(1, min(len(word), 10)) ** 0.5
        framed = f"<{word}>"
        grams = [framed[start : start + 3] for start in range(len(framed) - 2)]
        self._add_feature(vector, f"word {word}", weight)
        for gram in grams:
            self._add_feature(vector, f"gram {gram}", weight / len(grams) ** 0.5)
        return vector

    def _add_feature(self, vector: Vector, feature: str, weight: float) -> None:
        # A linear checksum such as CRC-32 would map similar features to colliding positions.
        hash_value = int.from_bytes(
            hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        )
        vector[(hash_value >> 1) % self.dimensions] += weight if hash_value & 1 else -weight
