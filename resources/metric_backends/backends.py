"""The metric backends of the settings: BERTScore's models, WordNet, a pronouncing dictionary.

A metric without its backend has a reason instead of a value. A wrong path in the settings is an error before scoring.
"""

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path

from memflow.chat.requests import Chat
from memflow.metrics.backends import CMUDICT, WORDNET, MetricBackends
from memflow.resources.metric_backends.encoder import FolderEncoder
from memflow.resources.metric_backends.pronunciations import syllables
from memflow.resources.metric_backends.wordnet import WordNet
from memflow.resources.settings.settings import Settings


def build_metric_backends(
    settings: Settings, used: Collection[str], judges: Mapping[str, Chat] | None = None
) -> MetricBackends:
    """Return the judges and the configured backends whose names are in `used`. Weights are loaded on first use.

    Raises MissingData if a file or folder is missing, BadInput if it is invalid.
    """
    judges = judges or {}
    return MetricBackends(
        next(iter(judges.values()), None),
        _encoders(settings, used),
        WordNet(settings.wordnet) if settings.wordnet is not None and WORDNET in used else None,
        syllables(settings.cmudict) if settings.cmudict is not None and CMUDICT in used else None,
        judges,
    )


def fingerprints(settings: Settings, used: Collection[str]) -> dict[str, str]:
    """Return the fingerprints of the configured metric backends in `used`.

    The keys are `encoder.LANGUAGE`, WORDNET and CMUDICT. Raises the errors of `build_metric_backends`.
    """
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
