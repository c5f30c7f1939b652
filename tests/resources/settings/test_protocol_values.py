"""The values of protocol points: from the settings, and from the metadata of stored verdicts."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.protocol_settings import ALL, OWN_WORDS, REPLACED
from memflow.chat.prompts import packaged_text
from memflow.chat.replacements import PromptFile, replace_prompts
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.protocol_values import PROTOCOL, protocol_meta, protocol_values, stored_values
from memflow.resources.settings.settings import Settings, load

PACKAGE = "memflow.benchmarks.amemgym"
MODELS = {
    "small": {
        "kind": "endpoint",
        "url": "http://127.0.0.1:1/v1",
        "model": "openai/gpt-4.1-mini",
        "temperature": 0.5,
    }
}


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MEMFLOW_SETTINGS", raising=False)
    monkeypatch.chdir(tmp_path)


def values(name: str, assistant: str = "none", **over: Any) -> dict[str, Any]:
    settings = load(over={"models": MODELS, **over})
    return protocol_values(settings, settings.domain(name), assistant)


def test_protocol_value_of_a_parameter_is_that_of_the_domain_or_the_default() -> None:
    assert values("amemgym_base")["user_model"] == "paper"
    assert values("amemgym_base.published")["user_model"] == "published_code"


def test_protocol_temperature_is_that_of_the_role_model_unless_the_profile_sets_one() -> None:
    roles = {"roles": {"simulator": "small"}}
    assert values("amemgym_base", **roles)["user_temperature"] == 0.5
    assert values("amemgym_base.published", **roles)["user_temperature"] == 0.2
    assert values("amemgym_base", "none@small")["assistant_temperature"] == 0.5


def test_settings_and_profile_raise_the_token_limit_of_a_prompt() -> None:
    assert values("amemgym_base.memflow")["option_tokens"] == 64
    assert values("amemgym_base.memflow", token_limits={"assistant": {"output": 100}})["option_tokens"] == 100
    own = {"mine": {"benchmark": "amemgym", "datasets": ["amemgym_v1_base"]}}
    for name in ("amemgym_base", "amemgym_base.published", "mine"):
        assert values(name, own_domains=own)["option_tokens"] == 8192


def test_protocol_values_name_models_and_embedder_as_in_requests() -> None:
    embedder = {"kind": "endpoint", "url": "http://127.0.0.1:1/v1", "model": "text-embedding-3-small"}
    found = values("amemgym_base", "rag_2_4_30@small", embedder=embedder, roles={"simulator": "small"})
    names = ("assistant_model", "user_model_name", "embedder")
    assert [found[name] for name in names] == [
        *("openai/gpt-4.1-mini", "openai/gpt-4.1-mini", "text-embedding-3-small")
    ]


def test_protocol_values_omit_points_of_other_memories() -> None:
    assert {"embedder", "context_window"}.isdisjoint(values("amemgym_base", "none"))
    assert values("amemgym_base", "full_1024")["context_window"] == "drop"


def test_prompt_point_counts_as_replaced_only_if_all_of_its_prompts_are_replaced() -> None:
    [point] = [each for each in registry.protocol("amemgym").points if each.name == "prompts_choice"]
    files = {
        f"amemgym/{stem}": PromptFile("mine.md", packaged_text(PACKAGE, stem), PACKAGE, ("assistant",))
        for stem in point.setting.prompts
    }
    try:
        replace_prompts(dict([*files.items()][1:]))
        assert values("amemgym_base")["prompts_choice"] == OWN_WORDS
        replace_prompts(files)
        assert values("amemgym_base")["prompts_choice"] == REPLACED
    finally:
        replace_prompts({})


def test_protocol_value_of_the_sample_is_the_limit_of_the_domain() -> None:
    settings = Settings()
    domain = settings.domain("amemgym_base")
    assert protocol_values(settings, domain, "none")["sample"] == ALL
    assert protocol_values(settings, domain.limited(3), "none")["sample"] == 3


def test_stored_values_contain_those_of_the_run_and_the_missing_data_as_sample(tmp_path: Path) -> None:
    lake, settings = Lake(tmp_path / "lake"), Settings()
    domain = settings.domain("amemgym_base")
    assert stored_values(lake, domain, "none") is None
    meta = protocol_meta("score.verdicts", settings, domain, "none")
    assert "sample" not in json.loads(meta[PROTOCOL])
    lake.write("score.verdicts", "amemgym_base/none", [], fingerprint="", meta=meta)
    stored = stored_values(lake, domain, "none")
    assert stored is not None and (stored["user_model"], stored["sample"]) == ("paper", ALL)
    lake.write(
        "question.probes", "amemgym_base", [], fingerprint="", meta={"incomplete": "sample of 2 of 20 users"}
    )
    stored = stored_values(lake, domain, "none")
    assert stored is not None and stored["sample"] == "sample of 2 of 20 users"


def test_protocol_values_are_stored_with_verdicts_only() -> None:
    settings = Settings()
    domain = settings.domain("amemgym_base")
    assert protocol_meta("answer.replies", settings, domain, "none") == {}
    assert protocol_meta("score.verdicts", settings, settings.domain("comem_demo"), "none") != {}


def test_stored_values_returns_none_for_verdicts_without_protocol_metadata(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    lake.write("score.verdicts", "d/none", [], fingerprint="")
    assert stored_values(lake, Domain("d", "amemgym", (), ""), "none") is None


def test_stored_run_has_the_variants_that_the_profile_of_its_domain_shows_now(tmp_path: Path) -> None:
    lake, settings = Lake(tmp_path / "lake"), Settings()
    domain = settings.domain("amemgym_base")
    meta = protocol_meta("score.verdicts", settings, domain, "none")
    lake.write("score.verdicts", "amemgym_base/none", [], fingerprint="", meta=meta)
    stored = stored_values(lake, replace(domain, profile="published"), "none")
    assert stored is not None
    assert (stored["memory_score"], stored["unparsable_answer"]) == ("per_user_ratio", "chance_for_unparsed")
