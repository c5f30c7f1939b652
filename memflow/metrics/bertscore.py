"""BERTScore (Zhang et al. 2020): the similarity of an answer and the gold answer, from a model's token vectors.

The encoder is an argument (resources/metric_backends/encoder.py) and part of the metric's name. There are no idf
weights and no baseline rescaling, as in MemoryBench.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from memflow.metrics.result import MetricResult

BERTSCORE = "bertscore"
NO_ENCODER = (
    "there is no encoder for BERTScore in this language; "
    "set [encoder.{language}] in memflow.toml to a folder of weights"
)
AT_ONCE = 32
"""Pairs whose vectors are in memory together; a text of 512 tokens has 1.5 MB of them."""

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """The protocol of a model that returns a unit vector per token."""

    name: str
    """The model's name, such as roberta-base."""
    layer: int
    """The hidden layer of the vectors, from 1."""
    fingerprint: str
    """Digest of the weights."""

    async def encode(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text a float32 array of shape (tokens + 2, d) with rows of length 1.

        The first and last rows belong to the special tokens ([CLS], [SEP]).
        """
        ...


class BertScore(NamedTuple):
    """The precision, recall and F1 of BERTScore, each in [-1, 1]."""

    precision: float
    recall: float
    f1: float


def metric_name(encoder: Encoder | None) -> str:
    """Return the metric's name, such as `bertscore[roberta-base,L10]`, or `bertscore` without an encoder."""
    return BERTSCORE if encoder is None else f"{BERTSCORE}[{encoder.name},L{encoder.layer}]"


def bertscore(answer: Vectors, gold: Vectors) -> BertScore:
    """Return the BERTScore of an answer, given the token vectors of the answer and of the gold answer.

    All scores are 0 if a text has no token. As in the package bert-score, a special token may match but is not scored.
    """
    if len(answer) <= 2 or len(gold) <= 2:
        return BertScore(0.0, 0.0, 0.0)
    cosines = answer @ gold.T
    precision = float(cosines[1:-1].max(axis=1).mean())
    recall = float(cosines[:, 1:-1].max(axis=0).mean())
    total = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / total if total else 0.0)


async def bertscores(
    encoder: Encoder | None, pairs: Sequence[tuple[str, str]], language: str = "en"
) -> list[MetricResult]:
    """Return the F1 of each (answer, gold) pair. Without an encoder, each result is a reason instead of a value.

    The reason names `language`. A text that repeats within AT_ONCE pairs is encoded once.
    """
    if encoder is None:
        return [MetricResult(None, NO_ENCODER.format(language=language))] * len(pairs)
    scores = []
    for start in range(0, len(pairs), AT_ONCE):
        batch = pairs[start : start + AT_ONCE]
        texts = list(dict.fromkeys(text for pair in batch for text in pair))
        vectors = dict(zip(texts, await encoder.encode(texts), strict=True))
        scores += [MetricResult(bertscore(vectors[answer], vectors[gold]).f1) for answer, gold in batch]
    return scores
