"""Metric backends: the judge, and models or dictionaries that memflow does not ship.

A metric whose backend is missing has no value; its reason names the backend.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memflow.chat.requests import Chat
from memflow.memories.memory import Embedder
from memflow.metrics.bertscore import Encoder
from memflow.metrics.meteor import Synonyms
from memflow.metrics.readability import Syllables

ENCODER_EN, ENCODER_ZH, WORDNET, CMUDICT = "encoder.en", "encoder.zh", "wordnet", "cmudict"
EMBEDDER = "embedder"
"""Names of the backends other than the judge, as in the settings."""


@dataclass(frozen=True)
class MetricBackends:
    """The configured metric backends. A backend that is not configured is None or empty."""

    judge: Chat | None = None
    """The first judge."""
    encoders: Mapping[str, Encoder] = field(default_factory=dict)
    """BERTScore's model per language."""
    synonyms: Synonyms | None = None
    syllables: Syllables | None = None
    judges: Mapping[str, Chat] = field(default_factory=dict)
    """All judges by the name of their model; empty or one judge where a metric has one verdict."""
    embedder: Embedder | None = None
    """The embedder of the settings, for metrics that search entries by meaning."""
