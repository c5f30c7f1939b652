"""The instruments of the settings: BERTScore's models, WordNet, a pronouncing dictionary.

Which of them a domain's metrics use, its benchmark says. One that the settings do not name is not there, and the metric
that needs it says so; one that they name wrongly is an error before anything is measured.
"""

import hashlib
from collections.abc import Collection
from pathlib import Path

from memflow.chat.requests import Chat
from memflow.metrics.backends import CMUDICT, WORDNET, MetricBackends
from resources.encoder import FolderEncoder
from resources.pronunciations import syllables
from resources.settings import Settings
from resources.wordnet import WordNet


def build_metric_backends(
    settings: Settings, used: Collection[str], judge: Chat | None = None
) -> MetricBackends:
    """Those of `used` that the settings name, and the judge. Weights are loaded when something is measured.

    Raises MissingData or BadInput for what is not where the settings say, or is not what it should be.
    """
    return MetricBackends(
        judge,
        _encoders(settings, used),
        WordNet(settings.wordnet) if settings.wordnet is not None and WORDNET in used else None,
        syllables(settings.cmudict) if settings.cmudict is not None and CMUDICT in used else None,
    )


def fingerprints(settings: Settings, used: Collection[str]) -> dict[str, str]:
    """What those of `used` that the settings name are made of, and models' names: a part of a recipe. Raises as
    `instruments` does."""
    found = {
        f"encoder.{language}": f"{encoder.name} {encoder.fingerprint}"
        for language, encoder in _encoders(settings, used).items()
    }
    if settings.wordnet is not None and WORDNET in used:
        found[WORDNET] = WordNet(settings.wordnet).fingerprint
    if settings.cmudict is not None and CMUDICT in used:
        syllables(settings.cmudict)
        found[CMUDICT] = hashlib.sha256(Path(settings.cmudict).expanduser().read_bytes()).hexdigest()
    return found


def _encoders(settings: Settings, used: Collection[str]) -> dict[str, FolderEncoder]:
    return {
        language: FolderEncoder(model.folder, model.name, model.layer)
        for language, model in settings.encoder.items()
        if f"encoder.{language}" in used
    }
