"""What a score is measured against: the published figures of a partition, or those of everything that was run.

Min-max and z scores (paper, section 3) compare data sets whose metrics have different scales. Both are affine in the
score, so they are taken of groups of verdicts as well as of one.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import yaml

from memflow.scoring.groups import Group, Spread, spread

Against = Mapping[str, Spread]
"""By task: the population that its scores are measured against."""
TINY = 1e-6
"""A deviation up to which all scores count as the same, and every z score as 0; as published."""


class Scale(NamedTuple):
    """`by * value + shift`."""

    by: float
    shift: float


@lru_cache(maxsize=1)
def _published() -> Mapping[str, Against]:
    text = files(__package__).joinpath("reference.yaml").read_text(encoding="utf-8")
    return {
        partition: {
            name: Spread(0, figures["mean"], figures["deviation"], figures["low"], figures["high"])
            for name, figures in tasks.items()
        }
        for partition, tasks in yaml.safe_load(text).items()
    }


def published(partition: str | None) -> Against:
    """The published figures of a partition by task; empty for a domain that is none of the paper's."""
    return _published().get(partition or "", {})


def pooled(groups: Iterable[Group]) -> Against:
    """The figures of everything that was run, by task."""
    by_task: dict[str, list[Group]] = {}
    for group in groups:
        by_task.setdefault(group.dataset, []).append(group)
    return {name: spread(held) for name, held in by_task.items()}


def min_max(population: Spread) -> Scale:
    """(value - low) / (high - low); 0 where all values are the same."""
    if population.low is None or population.high is None or population.low == population.high:
        return Scale(0.0, 0.0)
    by = 1 / (population.high - population.low)
    return Scale(by, -population.low * by)


def z_score(population: Spread) -> Scale:
    """(value - mean) / deviation; 0 where the deviation is next to nothing."""
    if population.mean is None or population.deviation is None or population.deviation <= TINY:
        return Scale(0.0, 0.0)
    by = 1 / population.deviation
    return Scale(by, -population.mean * by)
