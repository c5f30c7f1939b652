"""The points in which memory systems differ from their papers and published code, for `memflow memories NAME`.

They are a package of their own, so that the fingerprints of memories do not depend on their texts.
"""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from memflow.memories.systems import System

ALL_WITH_CHAT = "all_with_chat"  # under `memories`: all systems that ask a chat model


def deviations_of(system: System) -> list[dict[str, Any]]:
    """Return the points in which a memory system differs from its paper or published code, those on prompts last.

    A point has `topic`, `published` (by paper or code), `memflow` and `owner`: the first memory that its group names,
    or the folder of its prompts. A point with a `benchmark` is about that benchmark's paper or code only.
    """
    names = {system.name, ALL_WITH_CHAT} if system.needs_chat else {system.name}
    prompts = {prompt.name for prompt in system.prompts}
    deviations = []
    for group in _groups():
        memories = group.get("memories", [])
        for point in group["points"]:
            prompts_of_point = point.get("prompts", [])
            if names.isdisjoint(memories) and prompts.isdisjoint(prompts_of_point):
                continue
            owner = memories[0] if memories else prompts_of_point[0].partition("/")[0]
            deviations.append({"owner": owner, **point})
    return deviations


@cache
def _groups() -> list[dict[str, Any]]:
    return [*_load("deviations.yaml"), {"points": _load("prompts.yaml")}]


def _load(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load(files(__name__).joinpath(name).read_text(encoding="utf-8")))
