"""Scores by partition (paper, Tables 10 and 11): the leaderboard's min-max and z scores, a cell per memory and domain.

A partition is one of the paper's domains or task formats. Here are the domains that are one, off-policy, and learn from
whole dialogues; what is drawn of them is plots.py.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.records import Score

SCALES = ("min_max", "z_score")
MICRO, MACRO = "all", "macro"
"""Slices: every case, or every data set, as heavy as another."""
NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Cell:
    """What an assistant scores in a domain that is a partition; a figure is null where there is none."""

    partition: str
    domain: str
    assistant: str
    min_max: Score | None
    z_score: Score | None

    @property
    def reason(self) -> str | None:
        """Why a figure has no value."""
        if self.min_max is None or self.z_score is None:
            return NOT_MEASURED
        lacking = [figure for figure in (self.min_max, self.z_score) if figure.value is None]
        return lacking[0].reason or "no reason given" if lacking else None

    @property
    def scripted(self) -> bool:
        return any(figure is not None and figure.scripted for figure in (self.min_max, self.z_score))


def partitions(domains: Iterable[Domain]) -> list[Domain]:
    """Those of `domains` that are partitions, in their order."""
    return [domain for domain in domains if domain.benchmark == "memorybench" and _is_one(domain)]


def _is_one(domain: Domain) -> bool:
    parameters = parameters_of(domain)
    whole = parameters.protocol == "off_policy" and parameters.learn_from == "dialogues"
    return parameters.partition is not None and whole


def cells(
    figures: Iterable[Score], domains: Sequence[Domain], *, variant: str = "standard", slice_: str = MICRO
) -> list[Cell]:
    """A cell for each assistant of any of `domains`, in each of them."""
    names = {domain.name for domain in domains}
    held = {
        (figure.domain, figure.assistant, figure.metric): figure
        for figure in figures
        if figure.domain in names
        and figure.metric in SCALES
        and figure.variant == variant
        and (figure.slice == slice_ or (figure.value is None and figure.slice == MICRO))
    }
    assistants = sorted({assistant for _, assistant, _ in held})
    return [
        Cell(
            str(parameters_of(domain).partition),
            domain.name,
            assistant,
            *(held.get((domain.name, assistant, metric)) for metric in SCALES),
        )
        for assistant in assistants
        for domain in domains
    ]
