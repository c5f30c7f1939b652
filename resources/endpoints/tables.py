"""The data of this package: TOML files beside the code."""

import tomllib
from importlib.resources import files
from typing import Any


def load_table(name: str) -> dict[str, Any]:
    """Return the content of the file NAME.toml beside this module."""
    return tomllib.loads(files("memflow.resources.endpoints").joinpath(f"{name}.toml").read_text("utf-8"))


WIRE_WORDS = load_table("wire_words")
"""The words of servers' responses, by their meaning."""
