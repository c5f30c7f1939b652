"""Models that providers host: their addresses, the variables of their keys, and their prices (hosted_models.toml).

`--model NAME` with the name of one of them needs no model in memflow.toml.
"""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from memflow.chat.budget import Prices
from memflow.resources.endpoints.profiles import Preset
from memflow.resources.endpoints.tables import load_table

_DATED = re.compile(r"-(\d{4}-\d\d-\d\d|\d{8})$")
"""The end of the name of a dated version, which has the price of its model."""


class HostedModel(NamedTuple):
    """A hosted model: its name at the provider, the provider's address, and its prices with their date."""

    name: str
    url: str
    key_variable: str
    preset: Preset
    prices: Prices
    date: date

    def settings(self) -> dict[str, Any]:
        """Return the fields of the model's section [models.NAME] of memflow.toml."""
        section = {name: getattr(self, name) for name in ("url", "key_variable", "preset")}
        return {"kind": "endpoint", "model": self.name, **section}


def settings_name(model: str) -> str:
    """Return the name of a model in the settings, such as `gpt_4o_mini` for gpt-4o-mini."""
    return re.sub("[^a-z0-9_]+", "_", model.lower())


@cache
def hosted_models() -> Mapping[str, HostedModel]:
    """Return the hosted models of hosted_models.toml by name."""
    return {
        name: HostedModel(
            name,
            provider["url"],
            provider["key_variable"],
            listed.get("preset", provider["preset"]),
            Prices(listed["input"], listed.get("output", 0.0), listed.get("cached")),
            listed["date"],
        )
        for provider in load_table("hosted_models").values()
        for name, listed in provider["models"].items()
    }


def find_hosted(name: str) -> HostedModel | None:
    """Return a hosted model, also a dated version of one such as gpt-4o-2024-08-06; None for another name."""
    models = hosted_models()
    listed = models.get(name) or models.get(_DATED.sub("", name))
    return listed and listed._replace(name=name)


def listed_prices(name: str, url: str) -> Prices | None:
    """Return the prices of a model at its provider's address; None for another model or address."""
    listed = find_hosted(name)
    return listed.prices if listed and listed.url.rstrip("/") == url.rstrip("/") else None
