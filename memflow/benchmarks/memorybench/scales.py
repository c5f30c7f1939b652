"""Min-max and z scores: scales relative to a population of scores (paper, section 3).

Both make data sets with different ranges comparable. They are affine functions of a score, so they also apply to sums
of verdicts. A score is scaled only by a population with the same metric and variant. paper.py has the published
populations.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memflow.errors import BadInput
from memflow.scoring.groups import Group, Spread, spread

TINY = 1e-6
"""Largest deviation at which all z scores are 0, as published."""


class Population(NamedTuple):
    """The reference scores of a data set: their statistics, metric and variant, by which other scores are scaled."""

    dataset: str
    metric: str
    variant: str
    spread: Spread
    refusal: str = ""
    """The reason why no score of the domain is relative to it, such as another judge; empty if there is none."""


class Scale(NamedTuple):
    """A function that scales a score: `by * value + shift`."""

    by: float
    shift: float


def pooled(groups: Iterable[Group]) -> list[Population]:
    """Return the populations of the scores of all assistants, one per data set, metric and variant."""
    measured: dict[tuple[str, str, str], list[Group]] = {}
    for group in groups:
        measured.setdefault((group.dataset, group.metric, group.variant), []).append(group)
    return [Population(*key, spread(members)) for key, members in measured.items()]


def population_of(group: Group, populations: Sequence[Population]) -> Population:
    """Return the population by which `group` can be scaled.

    Raises BadInput with the reason if there is none, such as another metric or variant, or the population's `refusal`.
    """
    of_dataset = [population for population in populations if population.dataset == group.dataset]
    own = next(
        (each for each in of_dataset if (each.metric, each.variant) == (group.metric, group.variant)), None
    )
    if refusal := next((each.refusal for each in of_dataset if each.refusal), ""):
        raise BadInput(refusal)
    if own is None and of_dataset:
        other = of_dataset[0]
        raise BadInput(
            f"the published scores are of the metric {other.metric} ({other.variant}), but these are of {group.metric} "
            f"({group.variant}); use the variant `pooled`"
        )
    if own is None:
        raise BadInput("there are no published scores of the data set; use the variant `pooled`")
    if own.spread.mean is None:
        raise BadInput(
            f"no assistant has a value of {group.metric}. Configure its backend in memflow.toml, and score again."
        )
    return own


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


SCALES = {"min_max": min_max, "z_score": z_score}
"""The scales by metric."""
