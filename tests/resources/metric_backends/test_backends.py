"""Metric backends that the settings configure and a domain's metrics use."""

from pathlib import Path

import pytest

from memflow.errors import BadInput, MissingData
from memflow.metrics.backends import CMUDICT, ENCODER_EN, ENCODER_ZH, WORDNET
from memflow.resources.metric_backends.backends import build_metric_backends, fingerprints
from memflow.resources.metric_backends.wordnet import PARTS
from memflow.resources.settings.sections import Encoder
from memflow.resources.settings.settings import Settings

EVERY = (ENCODER_EN, ENCODER_ZH, WORDNET, CMUDICT)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings with an English encoder, an empty WordNet and a dictionary of one word."""
    encoder, wordnet, dictionary = tmp_path / "tiny", tmp_path / "wordnet", tmp_path / "cmudict.dict"
    encoder.mkdir()
    (encoder / "config.json").write_text("{}")
    wordnet.mkdir()
    for part in PARTS:
        for name in (f"data.{part}", f"index.{part}", f"{part}.exc"):
            (wordnet / name).write_text("")
    dictionary.write_text("syllable S IH1 L AH0 B AH0 L\n")
    named = {"en": Encoder(folder=encoder, layer=1)}
    return Settings(home=tmp_path / "home", encoder=named, wordnet=wordnet, cmudict=dictionary)


def test_build_metric_backends_returns_only_requested_backends(settings: Settings) -> None:
    found = build_metric_backends(settings, EVERY)
    assert [*found.encoders] == ["en"] and found.encoders["en"].name == "tiny"
    assert found.synonyms is not None and found.syllables == {"syllable": 3} and found.judge is None
    few = build_metric_backends(settings, {WORDNET})
    assert (few.encoders, few.syllables) == ({}, None) and few.synonyms is not None


def test_build_metric_backends_omits_backends_without_settings(tmp_path: Path) -> None:
    found = build_metric_backends(Settings(home=tmp_path), EVERY)
    assert (found.encoders, found.synonyms, found.syllables) == ({}, None, None)
    assert fingerprints(Settings(home=tmp_path), EVERY) == {}


def test_build_metric_backends_rejects_invalid_path_only_if_used(settings: Settings, tmp_path: Path) -> None:
    gone = settings.model_copy(update={"wordnet": tmp_path / "gone", "cmudict": tmp_path / "config"})
    (tmp_path / "config").write_text("no dictionary\n")
    with pytest.raises(MissingData, match="is not a WordNet folder"):
        build_metric_backends(gone, {WORDNET})
    with pytest.raises(BadInput, match="is not a CMU pronouncing dictionary"):
        fingerprints(gone, {CMUDICT})
    assert build_metric_backends(gone, {ENCODER_EN}).synonyms is None


def test_metric_backend_fingerprint_covers_content_and_model_name(settings: Settings, tmp_path: Path) -> None:
    before = fingerprints(settings, EVERY)
    assert set(before) == {ENCODER_EN, WORDNET, CMUDICT} and fingerprints(settings, EVERY) == before
    (tmp_path / "tiny" / "config.json").write_text('{"more": 1}')
    (tmp_path / "wordnet" / "adv.exc").write_text("best well\n")
    (tmp_path / "cmudict.dict").write_text("syllable S IH1 L AH0 B AH0 L\ncat K AE1 T\n")
    after = fingerprints(settings, EVERY)
    assert all(before[name] != after[name] for name in before)
    renamed = settings.model_copy(
        update={"encoder": {"en": Encoder(folder=tmp_path / "tiny", layer=1, name="mine")}}
    )
    assert fingerprints(renamed, EVERY)[ENCODER_EN] == after[ENCODER_EN].replace("tiny", "mine")
