"""Models that providers host: their addresses, the variables of their keys, and their prices (hosted_models.toml).

`--model NAME` with the name of one of them needs no model in memflow.toml.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from memflow.chat.budget import Prices
from memflow.errors import BadSettings
from memflow.resources.endpoints.profiles import Preset

_DATED = re.compile(r"-(\d{4}-\d\d-\d\d|\d{8})$")
"""The end of the name of a dated version, which has the price of its model."""


class _Listed(BaseModel):
    """A model of a provider, with prices in US dollars per million tokens."""

    model_config = ConfigDict(extra="forbid")

    input: float = Field(ge=0)
    cached: float | None = Field(None, ge=0)
    output: float = Field(0.0, ge=0)
    date: date
    preset: Preset | None = None


class _Provider(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str
    key_variable: str
    preset: Preset
    source: str
    models: dict[str, _Listed]


_Providers = RootModel[dict[str, _Provider]]


@dataclass(frozen=True)
class HostedModel:
    """A hosted model: its name at the provider, the provider's address, and its prices with their date."""

    name: str
    url: str
    key_variable: str
    preset: Preset
    prices: Prices
    date: date

    def settings(self) -> dict[str, Any]:
        """Return the model as a section [models.NAME] of memflow.toml."""
        return {
            "kind": "endpoint",
            "url": self.url,
            "model": self.name,
            "key_variable": self.key_variable,
            "preset": self.preset,
        }


def settings_name(model: str) -> str:
    """Return the name of a model in the settings, such as `gpt_4o_mini` for gpt-4o-mini."""
    return re.sub("[^a-z0-9_]+", "_", model.lower())


@cache
def hosted_models(own: Path | None = None) -> Mapping[str, HostedModel]:
    """Return the hosted models by name; the providers in the file `own` replace those of hosted_models.toml.

    Raises BadSettings if the file is not of this form.
    """
    shipped = files("memflow.resources.endpoints").joinpath("hosted_models.toml").read_text(encoding="utf-8")
    providers = _Providers.model_validate(tomllib.loads(shipped)).root
    if own is not None:
        try:
            providers |= _Providers.model_validate(tomllib.loads(own.read_text(encoding="utf-8"))).root
        except (OSError, ValueError, ValidationError) as error:
            raise BadSettings(
                f"the file of hosted models {own} cannot be read: {error}. Write it in the form of memflow's "
                "resources/endpoints/hosted_models.toml, or remove `hosted_models` from memflow.toml."
            ) from error
    return {
        name: HostedModel(
            name,
            provider.url,
            provider.key_variable,
            listed.preset or provider.preset,
            Prices(listed.input, listed.output, listed.cached),
            listed.date,
        )
        for provider in providers.values()
        for name, listed in provider.models.items()
    }


def find_hosted(name: str, own: Path | None = None) -> HostedModel | None:
    """Return a hosted model, also a dated version of one such as gpt-4o-2024-08-06; None for another name."""
    models = hosted_models(own)
    listed = models.get(name) or models.get(_DATED.sub("", name))
    return listed and HostedModel(**{**vars(listed), "name": name})


def listed_prices(name: str, url: str, own: Path | None = None) -> Prices | None:
    """Return the prices of a model at its provider's address; None for another model or address."""
    listed = find_hosted(name, own)
    return listed.prices if listed and listed.url.rstrip("/") == url.rstrip("/") else None
