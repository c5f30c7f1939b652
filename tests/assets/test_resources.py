"""Dagster resources: described fields, no secrets in the UI, and jobs that use them."""

import json
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.remote_representation.external_data import RepositorySnap

from memflow.assets.definitions import build_defs
from memflow.resources.configurable import configurable_resources
from memflow.resources.settings.settings import Settings, load

FILE = """
ledger = "postgresql+psycopg2://me:topsecret@host/name"
[models.large]
url = "http://127.0.0.1:9/v1"
model = "a/b"
key_variable = "LARGE_KEY"
[models.served]
kind = "vllm"
model = "c/d"
[roles]
judge = "large"
[own_datasets.mine]
benchmark = "amemgym"
files = ["mine.json"]
"""
NAMES = {"data", "io_manager", "lake", "ledger", "models", "vllm", "warehouse"}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("LARGE_KEY", "sk-topsecret")
    file = tmp_path / "memflow.toml"
    file.write_text(FILE, encoding="utf-8")
    return load(file, {"home": tmp_path / "home"})


def test_dagster_resources_describe_every_field_and_hide_secrets(settings: Settings) -> None:
    repository = build_defs(settings).get_repository_def()
    shown = {each.name: each for each in RepositorySnap.from_def(repository).resources or []}
    assert set(shown) == NAMES
    for each in shown.values():
        assert each.resource_snapshot.description, each.name
        assert [field.name for field in each.config_field_snaps if not field.description] == []
    values = json.dumps([repr(each.configured_values) for each in shown.values()])
    assert "topsecret" not in values and "***" in values
    assert "LARGE_KEY" in values and "a/b" in values and "c/d" in values and "mine.json" in values


def test_ledger_resource_shows_a_url_from_the_environment_as_variable_name(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MEMFLOW_LEDGER", f"sqlite:///{tmp_path}/other.sqlite")
    resource = configurable_resources(Settings(home=tmp_path))["ledger"]
    assert resource._get_non_default_public_field_values()["url"] == dg.EnvVar("MEMFLOW_LEDGER")
    with dg.build_resources({"ledger": resource}) as built:
        assert built.ledger.url.endswith("/other.sqlite")


def test_models_of_a_run_have_the_budget_of_the_settings(tmp_path: Path) -> None:
    resources = configurable_resources(load(over={"home": tmp_path, "budget": {"calls": 5}}))
    with dg.build_resources({name: resources[name] for name in ("models", "ledger", "vllm")}) as built:
        assert (built.models.budget.calls, built.models.budget.tokens) == (5, None)
