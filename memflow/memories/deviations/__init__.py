"""The points in which memory systems differ from their papers and published code, for `memflow memories NAME`.

They are a package of their own, so that the fingerprints of memories do not depend on their texts.
"""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from memflow.memories.systems import System


def deviations_of(system: System) -> list[dict[str, Any]]:
    """Return the points in which a memory system differs: `topic`, `published` (paper or code) and `memflow`.

    Points on the wording of `prompts` come last. `of` is the group's first memory, or the folder of the prompts. A
    point with a `benchmark` is about that benchmark's paper or code only.
    """
    names = {system.name, "all"} if system.needs_chat else {system.name}
    prompts = {prompt.name for prompt in system.prompts}
    deviations = []
    for group in _groups():
        memories = group.get("memories", [])
        for point in group["points"]:
            prompts_of_point = point.get("prompts", [])
            if names.isdisjoint(memories) and prompts.isdisjoint(prompts_of_point):
                continue
            owner = memories[0] if memories else prompts_of_point[0].partition("/")[0]
            deviations.append({"of": owner, **point})
    return deviations


@cache
def _groups() -> list[dict[str, Any]]:
    return [*_load("deviations.yaml"), {"points": _load("prompts.yaml")}]


def _load(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load(files(__name__).joinpath(name).read_text(encoding="utf-8")))
