"""The scores that min-max and z scores are computed relative to: the published scores, or those of all assistants.

Min-max and z scores (paper, section 3) make data sets with different scales comparable. Both are affine functions of
the score, so they apply to means of verdicts too.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from memflow.benchmarks.packaged import load_yaml
from memflow.scoring.groups import Group, Spread, spread

Against = Mapping[str, Spread]
"""Population by task."""
TINY = 1e-6
"""Largest deviation at which all z scores are 0, as published."""


class Scale(NamedTuple):
    """A function that scales a score: `by * value + shift`."""

    by: float
    shift: float


@lru_cache(maxsize=1)
def _published() -> Mapping[str, Against]:
    partitions = load_yaml("memflow.benchmarks.memorybench", "reference.yaml")
    return {
        partition: {
            name: Spread(0, values["mean"], values["deviation"], values["low"], values["high"])
            for name, values in tasks.items()
        }
        for partition, tasks in partitions.items()
    }


def published(partition: str | None) -> Against:
    """Return the published scores of a paper partition by task, or an empty dict if the paper has no such partition."""
    return _published().get(partition or "", {})


def pooled(groups: Iterable[Group]) -> Against:
    """Return the scores of all assistants that were measured, by task."""
    by_task: dict[str, list[Group]] = {}
    for group in groups:
        by_task.setdefault(group.dataset, []).append(group)
    return {name: spread(members) for name, members in by_task.items()}


def min_max(population: Spread) -> Scale:
    """Return (value - low) / (high - low); 0 if all values are equal."""
    if population.low is None or population.high is None or population.low == population.high:
        return Scale(0.0, 0.0)
    by = 1 / (population.high - population.low)
    return Scale(by, -population.low * by)


def z_score(population: Spread) -> Scale:
    """Return (value - mean) / deviation; 0 if the deviation is near zero."""
    if population.mean is None or population.deviation is None or population.deviation <= TINY:
        return Scale(0.0, 0.0)
    by = 1 / population.deviation
    return Scale(by, -population.mean * by)
