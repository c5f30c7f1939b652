"""What some metrics need besides two texts: a judge to ask, and resources that are not ours to ship.

A metric whose instrument is not there has no value, and says which instrument it lacks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memflow.chat.requests import Chat
from memflow.metrics.bertscore import Encoder
from memflow.metrics.meteor import Synonyms
from memflow.metrics.readability import Syllables

ENCODER_EN, ENCODER_ZH, WORDNET, CMUDICT = "encoder.en", "encoder.zh", "wordnet", "cmudict"
"""The instruments besides a judge, as the settings name them."""


@dataclass(frozen=True)
class MetricBackends:
    """What there is to measure with. Each is None, or empty, where it was not given."""

    judge: Chat | None = None
    encoders: Mapping[str, Encoder] = field(default_factory=dict)
    """BERTScore's model by language."""
    synonyms: Synonyms | None = None
    syllables: Syllables | None = None
