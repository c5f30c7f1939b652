"""Recall, precision, nDCG and reciprocal rank at a cutoff: one definition for every benchmark and memory.

A ranking is described by ranks from 1; rank `k` is within the cutoff. `found` are the ranks at which evidence messages
occur for the first time, one per message; `relevant` are the ranks of the entries that came from evidence (Manning,
Raghavan and Schuetze, Introduction to Information Retrieval, chapter 8).
"""

import math
from collections.abc import Iterable


def recall_at(found: Iterable[float], evidence: int, k: int) -> float:
    """Return the share of the `evidence` messages (their number, at least 1) that the first `k` entries came from."""
    return sum(rank <= k for rank in found) / evidence


def precision_at(relevant: Iterable[float], k: int) -> float:
    """Return the share of `k` entries that came from evidence; entries that a ranking lacks came from none."""
    return sum(rank <= k for rank in relevant) / k


def reciprocal_rank_at(relevant: Iterable[float], k: int) -> float:
    """Return 1 / rank of the first entry that came from evidence, or 0 if it is not among the first `k`.

    Its mean over questions is MRR.
    """
    best_rank = min(relevant, default=math.inf)
    return 1 / best_rank if best_rank <= k else 0.0


def ndcg_at(relevant: Iterable[float], in_corpus: int, k: int) -> float:
    """Return nDCG with binary relevance and the discount log2(rank + 1).

    `in_corpus` is the number of relevant entries of the corpus, which the ideal ranking has first. Without any, the
    value is 0.
    """
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, in_corpus) + 1))
    gain = sum(1 / math.log2(rank + 1) for rank in relevant if rank <= k)
    return gain / ideal if ideal else 0.0
