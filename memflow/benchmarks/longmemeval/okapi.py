"""Okapi BM25 of the published baseline: words split at blanks, with case, and a floor for common words.

The formula is that of Robertson et al. with k1 1.5 and b 0.75; a negative inverse document frequency becomes a quarter
of the mean over all words.
"""

import math
from collections import Counter
from collections.abc import Sequence

K1, B, FLOOR = 1.5, 0.75, 0.25


def okapi_scores(query: str, texts: Sequence[str]) -> list[float]:
    """Return the score of each text for the query."""
    documents = [Counter(text.split(" ")) for text in texts]
    lengths = [sum(document.values()) for document in documents]
    mean_length = sum(lengths) / max(1, len(lengths))
    weights = _weights(documents)
    scores = [0.0] * len(texts)
    for word in query.split(" "):
        weight = weights.get(word, 0.0)
        for at, (document, length) in enumerate(zip(documents, lengths, strict=True)):
            count = document.get(word, 0)
            if count:
                scores[at] += weight * count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean_length))
    return scores


def _weights(documents: Sequence[Counter[str]]) -> dict[str, float]:
    """Return the inverse document frequency of each word."""
    containing = Counter(word for document in documents for word in document)
    weights = {
        word: math.log(len(documents) - count + 0.5) - math.log(count + 0.5)
        for word, count in containing.items()
    }
    floor = FLOOR * sum(weights.values()) / max(1, len(weights))
    return {word: floor if weight < 0 else weight for word, weight in weights.items()}


def ranking(scores: Sequence[float]) -> list[int]:
    """Return the positions of the scores, best first; of equal scores the later one first, as published."""
    return sorted(range(len(scores)), key=lambda at: (scores[at], at), reverse=True)
