"""Model profiles: presets, overridden fields, and their part in the model's fingerprint."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from memflow.errors import BadSettings
from memflow.resources.endpoints.profiles import PRESETS, Profile, profile_of
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.settings import load

MODEL = {"url": "http://127.0.0.1:1/v1", "model": "m"}


@pytest.fixture
def settings_error(tmp_path: Path) -> Any:
    """Return a function that loads a memflow.toml with one model and returns the error."""

    def error(lines: str) -> str:
        file = tmp_path / "memflow.toml"
        file.write_text(
            f'[models.gpt]\nurl = "http://127.0.0.1:1/v1"\nmodel = "m"\n{lines}\n', encoding="utf-8"
        )
        with pytest.raises(BadSettings) as caught:
            load(file)
        return str(caught.value)

    return error


def test_every_preset_of_the_file_is_declared_and_valid() -> None:
    table = tomllib.loads(
        files("memflow.resources.endpoints").joinpath("presets.toml").read_text(encoding="utf-8")
    )
    assert set(table) <= set(PRESETS)
    for preset in PRESETS:
        for level in ("", *profile_of(preset).thinking_levels):
            profile_of(preset, thinking=level)


def test_default_preset_equals_the_default_profile_and_keeps_the_fingerprint() -> None:
    assert profile_of("vllm").digest() == Profile().digest() == ""
    assert Model(**MODEL).fingerprint() == Model(**MODEL, preset="vllm").fingerprint()
    assert Model(**MODEL).fingerprint() == "c08273d81b4c4c5c216a456640c45960"


def test_settings_override_single_fields_of_a_preset() -> None:
    model = Model(**MODEL, preset="deepseek", profile={"headroom": 5})
    assert model.profile == profile_of("deepseek").model_copy(update={"headroom": 5})


@pytest.mark.parametrize(
    "fields",
    [
        {"preset": "mistral"},
        {"profile": {"structured": "object"}},
        {"profile": {"headroom": 1}},
        {"profile": {"tags": ["[", "]"]}},
        {"profile": {"thinking": "off"}},
        {"profile": {"body": {"top_k": 1}}},
    ],
)
def test_profile_fields_that_affect_answers_change_the_model_fingerprint(fields: dict[str, Any]) -> None:
    assert Model(**MODEL, **fields).fingerprint() != Model(**MODEL).fingerprint()


@pytest.mark.parametrize(
    "fields",
    [{"window": 100}, {"auth": "api-key"}],
)
def test_profile_fields_that_only_affect_failures_keep_the_model_fingerprint(fields: dict[str, Any]) -> None:
    assert Model(**MODEL, profile=fields).fingerprint() == Model(**MODEL).fingerprint()


def test_unused_thinking_levels_do_not_change_the_profile_digest() -> None:
    levels = {"off": {"think": False}, "on": {"think": True}}
    assert Profile(thinking_levels=levels).digest() == ""
    assert len({Profile(thinking=level, thinking_levels=levels).digest() for level in levels}) == 2


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('preset = "depseek"', "Did you mean deepseek"),
        ('[models.gpt.profile]\nboud = "none"', "Did you mean bound"),
        ('preset = "deepseek"\n[models.gpt.profile]\nthinking = "loud"', "levels of this profile: off, on"),
        ('[models.gpt.profile.headers]\nAuthorization = "Bearer abc"', "Set `key_variable`"),
        ("[models.gpt.profile.body]\nmessages = []", "belongs to the request"),
    ],
)
def test_settings_error_for_invalid_profile_names_the_fix(
    settings_error: Any, lines: str, message: str
) -> None:
    assert re.search(message, settings_error(lines))
