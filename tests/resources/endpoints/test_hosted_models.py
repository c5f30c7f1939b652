"""The list of hosted models: complete, dated, and used only at the provider's own address."""

from memflow.chat.budget import Prices
from memflow.resources.endpoints.hosted_models import (
    find_hosted,
    hosted_models,
    listed_prices,
    settings_name,
)
from memflow.resources.settings.chat_models import Model

OPENAI = "https://api.openai.com/v1"


def test_every_hosted_model_is_a_valid_model_of_the_settings_with_a_name_of_its_own() -> None:
    models = hosted_models().values()
    assert {Model(**model.settings()).url for model in models} >= {OPENAI}
    assert len({settings_name(model.name) for model in models}) == len(models)
    assert all(model.prices.cached is None or model.prices.cached < model.prices.prompt for model in models)


def test_dated_version_has_the_price_of_its_model() -> None:
    dated = find_hosted("gpt-4o-2024-08-06")
    assert dated is not None and dated.name == "gpt-4o-2024-08-06"
    assert dated.prices == hosted_models()["gpt-4o"].prices == Prices(2.5, 10.0, 1.25)
    assert find_hosted("gpt-4o-large") is None


def test_price_is_unknown_at_another_address() -> None:
    assert listed_prices("gpt-4o-mini", f"{OPENAI}/") == Prices(0.15, 0.6, 0.075)
    assert listed_prices("gpt-4o-mini", "http://127.0.0.1:8000/v1") is None
