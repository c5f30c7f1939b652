"""MemoryBench's published scores: the statistics for min-max and z scores, Tables 10 and 11, and averages by data set.

reference.yaml and published_scores.yaml have the data. scales.py converts averages to min-max and z scores.
"""

from functools import cache
from statistics import fmean
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from memflow.benchmarks.memorybench.config import Parameters
from memflow.benchmarks.memorybench.scales import SCALES, Population
from memflow.benchmarks.memorybench.scorers.scorer import PACKAGE, PUBLISHED, STANDARD
from memflow.benchmarks.packaged import load_yaml
from memflow.chat.prompts import load_packaged
from memflow.chat.replacements import replacement
from memflow.scoring.groups import Spread

TABLES, RECOMPUTED = "paper", "recomputed"
"""Sources of published cells: Tables 10 and 11, and the published averages by data set, scaled by memflow."""
POOLED_INSTEAD = "use the variant pooled"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Measurement(_Strict):
    """How the authors' code scored the responses to a data set; see reference.yaml."""

    metric: str
    variant: str = STANDARD
    judge: str = ""
    prompts: tuple[str, ...] = ()

    def refusal(self, parameters: Parameters, judge_fault: str = "") -> str:
        """Return the reason why a domain's scores cannot be compared with these, with the fix; empty without one.

        `judge_fault` is the reason why the domain's judge cannot be the published judge; empty without a reason.
        """
        by_judge = f"the published scores are judged by {self.judge} with the authors' prompts"
        if self.judge and not parameters.published_judge:
            return (
                f"{by_judge}; {POOLED_INSTEAD}, or, if roles.judge and its prompts are the same, set "
                "published_judge = true"
            )
        if self.judge and judge_fault:
            return f"{by_judge}, but {judge_fault}; {POOLED_INSTEAD}"
        names = [load_packaged(PACKAGE, stem).name for stem in self.prompts]
        if ours := [name for name in names if replacement(name) is None]:
            return (
                f"{by_judge}, and these are memflow's: {', '.join(ours)}; replace them (memflow prompts export), or "
                f"{POOLED_INSTEAD}"
            )
        if self.variant == PUBLISHED and PUBLISHED not in parameters.variants:
            return (
                f"the published scores are of {self.metric} in the variant {PUBLISHED}; add "
                f'variants = ["{PUBLISHED}"] to the domain\'s parameters, or {POOLED_INSTEAD}'
            )
        return ""


class _Statistics(_Strict):
    low: float
    high: float
    mean: float
    deviation: float


class ReferencePopulations(_Strict):
    """The content of reference.yaml."""

    responses: str
    measurements: dict[str, Measurement]
    populations: dict[str, dict[str, _Statistics]]


class _Averages(_Strict):
    cases: int
    values: tuple[float, ...]


class _PartitionAverages(_Strict):
    systems: tuple[str, ...]
    datasets: dict[str, _Averages]


class PublishedScores(_Strict):
    """The content of published_scores.yaml. `tables` is by scale, partition and system."""

    systems: dict[str, str]
    tables: dict[str, dict[str, dict[str, float]]]
    averages: dict[str, _PartitionAverages]


class PublishedCell(NamedTuple):
    """The published scores of a system in a partition or data set (`place`). `source` is TABLES or RECOMPUTED."""

    source: str
    place: str
    system: str
    min_max: float
    z_score: float


@cache
def reference() -> ReferencePopulations:
    """Return the content of reference.yaml. The file is read once."""
    return ReferencePopulations.model_validate(load_yaml(__package__, "reference.yaml"))


@cache
def published_scores() -> PublishedScores:
    """Return the content of published_scores.yaml. The file is read once."""
    return PublishedScores.model_validate(load_yaml(__package__, "published_scores.yaml"))


def published(partition: str | None) -> list[Population]:
    """Return the published statistics of the scores of each data set in a paper partition; empty if it is unknown."""
    found = reference()
    return [
        Population(
            name,
            found.measurements[name].metric,
            found.measurements[name].variant,
            Spread(0, values.mean, values.deviation, values.low, values.high),
        )
        for name, values in found.populations.get(partition or "", {}).items()
    ]


def published_for(parameters: Parameters, judge_fault: str = "") -> list[Population]:
    """Return the published statistics of a domain's partition, each with the reason why it cannot be used, if any."""
    measurements = reference().measurements
    return [
        each._replace(refusal=measurements[each.dataset].refusal(parameters, judge_fault))
        for each in published(parameters.partition)
    ]


def table_cells() -> list[PublishedCell]:
    """Return the published scores in Tables 10 and 11 of the paper."""
    tables = published_scores().tables
    return [
        PublishedCell(TABLES, partition, system, value, tables["z_score"][partition][system])
        for partition, row in tables["min_max"].items()
        for system, value in row.items()
    ]


def recomputed_cells(*, macro: bool = False) -> list[PublishedCell]:
    """Return the scores of each published system and partition, computed from the published averages by data set.

    A score is the mean over cases, or over data sets if `macro`.
    """
    found = []
    for partition, averages in published_scores().averages.items():
        weights = [1 if macro else dataset.cases for dataset in averages.datasets.values()]
        for system in averages.systems:
            own = [cell for cell in dataset_cells(partition) if cell.system == system]
            means = (fmean((getattr(cell, scale) for cell in own), weights) for scale in SCALES)
            found.append(PublishedCell(RECOMPUTED, partition, system, *means))
    return found


@cache
def dataset_cells(partition: str) -> tuple[PublishedCell, ...]:
    """Return the scores of each published system and data set of a partition, computed from the published averages."""
    spreads = {each.dataset: each.spread for each in published(partition)}
    averages = published_scores().averages[partition]
    return tuple(
        PublishedCell(RECOMPUTED, name, system, *(_scaled(scale, value, spreads[name]) for scale in SCALES))
        for name, each in averages.datasets.items()
        for system, value in zip(averages.systems, each.values, strict=True)
    )


def _scaled(scale: str, value: float, population: Spread) -> float:
    by, shift = SCALES[scale](population)
    return by * value + shift
