"""The published retrieval functions, on rankings of document ids: recall_any, recall_all and ndcg_any at k.

They are the standard variant of each metric, with their oddities: recall_all is 1 where nothing is relevant, and nDCG
does not discount rank 2. retrieval_verdicts.py applies them to what a memory recalls.
"""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple


class RetrievalValues(NamedTuple):
    """The values of a ranking at a cutoff."""

    recall_any: float
    recall_all: float
    ndcg_any: float


def evaluate(ranking: Sequence[str], relevant: Collection[str], in_corpus: int, k: int) -> RetrievalValues:
    """Return the published values of the first `k` documents of a ranking.

    Ids may repeat: each occurrence counts as a document. `in_corpus` is the number of documents of the whole corpus
    whose id is relevant, which the ideal ranking has first.
    """
    first, wanted = ranking[:k], set(relevant)
    found = wanted.intersection(first)
    ideal = published_dcg([True] * min(k, in_corpus))
    gain = published_dcg([each in wanted for each in first])
    return RetrievalValues(
        float(bool(found)), float(len(found) == len(wanted)), gain / ideal if ideal else 0.0
    )


def evaluate_sessions(
    turns: Sequence[str], session_of: dict[str, str], relevant: Collection[str], in_corpus: int, k: int
) -> RetrievalValues:
    """Return the values of a ranking of turns, each replaced by its session in `session_of` ("turn to session").

    The cutoff is `effective_k`. A session counts as often as the ranking has turns of it, and `in_corpus` is the number
    of relevant turns in the corpus.
    """
    sessions = [session_of[turn] for turn in turns]
    return evaluate(sessions, {session_of[turn] for turn in relevant}, in_corpus, effective_k(sessions, k))


def effective_k(sessions: Sequence[str], k: int) -> int:
    """Return the least cutoff of at least `k` up to which there are `k` different sessions, or the whole length."""
    seen: set[str] = set()
    for number, session in enumerate(sessions, 1):
        seen.add(session)
        if len(seen) >= k:
            return number
    return max(k, len(sessions))


def published_dcg(relevances: Sequence[bool]) -> float:
    """Return the published discounted gain: the gain at rank i > 1 is divided by log2(i), so rank 2 by 1."""
    return sum(float(each) / max(1.0, math.log2(rank)) for rank, each in enumerate(relevances, 1))
