"""The points in which memory systems differ from their papers and published code, for `memflow memories NAME`.

They are a package of their own, so that the fingerprints of memories do not depend on their texts.
"""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


def deviations_of(system: str, needs_chat: bool) -> list[dict[str, str]]:
    """Return the points in which a memory system differs: `topic`, `published` (paper or code) and `memflow`."""
    names = {system, "all"} if needs_chat else {system}
    return [point for group in _groups() if names & {*group["memories"]} for point in group["points"]]


@cache
def _groups() -> list[dict[str, Any]]:
    text = files(__name__).joinpath("deviations.yaml").read_text(encoding="utf-8")
    return list(yaml.safe_load(text))
