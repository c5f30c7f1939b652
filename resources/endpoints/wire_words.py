"""The words of servers' responses, by their meaning (wire_words.toml)."""

import tomllib
from importlib.resources import files
from typing import Any

WIRE_WORDS: dict[str, Any] = tomllib.loads(
    files("memflow.resources.endpoints").joinpath("wire_words.toml").read_text(encoding="utf-8")
)
