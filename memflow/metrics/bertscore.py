"""BERTScore (Zhang et al., 2020): how close the words of an answer and of the gold are in a model's vectors.

The model is handed in; its folder of weights is read by resources/encoder.py. Scores of two models, or of two layers
of one, are different metrics, so the name says both. No weights by idf and no rescaling against a baseline, as in
MemoryBench.
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
"""Pairs whose vectors are held at once: a text of 512 tokens has 1.5 MB of them."""

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Texts to a unit vector for each token."""

    name: str
    """The model, such as roberta-base."""
    layer: int
    """The hidden layer that the vectors are of, from 1."""
    fingerprint: str
    """What the weights are, wherever they lie."""

    async def encode(self, texts: Sequence[str]) -> list[Vectors]:
        """For each text an array (tokens + 2, d) of float32 rows of length 1.

        The first and last row are those of the model's own marks around the text ([CLS], [SEP]).
        """
        ...


class BertScore(NamedTuple):
    """Precision, recall and their harmonic mean: cosines, so in [-1, 1] and, in practice, far above 0."""

    precision: float
    recall: float
    f1: float


def metric_name(encoder: Encoder | None) -> str:
    """Such as `bertscore[roberta-base,L10]`; without an encoder `bertscore` alone, which then has no value."""
    return BERTSCORE if encoder is None else f"{BERTSCORE}[{encoder.name},L{encoder.layer}]"


def bertscore(said: Vectors, wanted: Vectors) -> BertScore:
    """BERTScore of an answer's vectors and the gold's; all 0 where one has no token.

    As in the package bert-score: the marks around a text may be the best match of a token, but are not counted
    themselves.
    """
    if len(said) <= 2 or len(wanted) <= 2:
        return BertScore(0.0, 0.0, 0.0)
    cosines = said @ wanted.T
    precision = float(cosines[1:-1].max(axis=1).mean())
    recall = float(cosines[:, 1:-1].max(axis=0).mean())
    both = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / both if both else 0.0)


async def bertscores(
    encoder: Encoder | None, pairs: Sequence[tuple[str, str]], language: str = "en"
) -> list[MetricResult]:
    """The F of each (answer, gold), in order; without an encoder no value, with the reason.

    `language` is the texts', for the reason. A text that comes twice among neighbours is encoded once.
    """
    if encoder is None:
        return [MetricResult(None, NO_ENCODER.format(language=language))] * len(pairs)
    scores = []
    for start in range(0, len(pairs), AT_ONCE):
        some = pairs[start : start + AT_ONCE]
        texts = list(dict.fromkeys(text for pair in some for text in pair))
        vectors = dict(zip(texts, await encoder.encode(texts), strict=True))
        scores += [MetricResult(bertscore(vectors[said], vectors[wanted]).f1) for said, wanted in some]
    return scores
