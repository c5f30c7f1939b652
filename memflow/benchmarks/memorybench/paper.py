"""The statistics of MemoryBench's published scores, to which min-max and z scores are relative, from reference.yaml.

scales.py converts averages to min-max and z scores. paper.csv has published scores.
"""

from functools import cache

from memflow.benchmarks.memorybench.config import Parameters
from memflow.benchmarks.memorybench.scales import Population
from memflow.benchmarks.memorybench.scorers.scorer import PACKAGE, PUBLISHED
from memflow.benchmarks.models import StrictModel
from memflow.benchmarks.packaged import load_yaml
from memflow.chat.prompts import load_packaged
from memflow.chat.replacements import replacement
from memflow.scoring.groups import Spread
from memflow.scoring.judges import STANDARD

POOLED_INSTEAD = "use the variant pooled"


class Measurement(StrictModel):
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


class _Statistics(StrictModel):
    low: float
    high: float
    mean: float
    deviation: float


class ReferencePopulations(StrictModel):
    """The content of reference.yaml."""

    responses: str
    measurements: dict[str, Measurement]
    populations: dict[str, dict[str, _Statistics]]


@cache
def reference() -> ReferencePopulations:
    """Return the content of reference.yaml. The file is read once."""
    return ReferencePopulations.model_validate(load_yaml(__package__, "reference.yaml"))


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
