"""Min-max and z scores of each assistant by paper partition (MemoryBench, Tables 10 and 11).

The paper partitions its data sets in two ways: into three subject areas, such as law, and into four task formats, such
as long input and short output. A memflow domain belongs to one of these seven partitions if the domain has the
parameter `partition` and the protocol `off_policy` and if assistants learn from complete dialogues.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.paper import published
from memflow.benchmarks.memorybench.scales import SCALES
from memflow.records import Score

STANDARD, POOLED, SUBSTITUTED = "standard", "pooled", "substituted"
"""Variants: relative to the published scores, or to the assistants of the domain, with substitutes for metrics."""
DATASET = "dataset "
"""Start of the name of a slice with one data set."""
MICRO, MACRO = "all", "macro"
"""Slices: equal weight per case, or per data set."""
NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Cell:
    """The min-max and z scores of an assistant in a paper partition's domain, or in one data set of the domain.

    A missing score is None.
    """

    partition: str
    domain: str
    assistant: str
    variant: str
    min_max: Score | None
    z_score: Score | None
    dataset: str = ""
    """The data set, if the scores are of one."""

    @property
    def reason(self) -> str | None:
        """Return the reason why a score has no value, or None if both scores have values."""
        if self.min_max is None or self.z_score is None:
            return NOT_MEASURED
        missing = [score for score in (self.min_max, self.z_score) if score.value is None]
        return missing[0].reason or "no reason given" if missing else None

    @property
    def scores(self) -> list[Score]:
        """The scores that are not missing."""
        return [score for score in (self.min_max, self.z_score) if score is not None]


def partitions(domains: Iterable[Domain]) -> list[Domain]:
    """Return the domains that correspond to a paper partition, in their given order."""
    return [domain for domain in domains if domain.benchmark == "memorybench" and _is_one(domain)]


def _is_one(domain: Domain) -> bool:
    parameters = parameters_of(domain)
    whole = parameters.protocol == "off_policy" and parameters.learn_from == "dialogues"
    return parameters.partition is not None and whole


def missing_datasets(scores: Iterable[Score], domain: Domain) -> list[str]:
    """Return the data sets of a domain's paper partition that have no row of scores in the domain."""
    slices = {
        score.slice
        for score in scores
        if (score.domain, score.metric, score.variant) == (domain.name, "min_max", STANDARD)
    }
    names = [each.dataset for each in published(parameters_of(domain).partition)]
    return [name for name in names if f"{DATASET}{name}" not in slices]


def scaled_datasets(scores: Sequence[Score], domain: Domain) -> list[str]:
    """Return the data sets of a domain that have scores on the published scale.

    Return an empty list if the whole partition has scores on this scale, which `cells` returns.
    """
    own = [
        score
        for score in scores
        if (score.domain, score.metric, score.variant) == (domain.name, "min_max", STANDARD)
        and score.value is not None
    ]
    if any(score.slice == MICRO for score in own) and not missing_datasets(scores, domain):
        return []
    slices = dict.fromkeys(score.slice for score in own if score.slice.startswith(DATASET))
    return [name.removeprefix(DATASET) for name in slices]


def pooled_cells(scores: Sequence[Score], domains: Sequence[Domain], *, slice_: str = MICRO) -> list[Cell]:
    """Return cells of pooled scores, or of substituted scores in domains without any pooled score."""
    pooled, substituted = (
        cells(scores, domains, variant=variant, slice_=slice_) for variant in (POOLED, SUBSTITUTED)
    )
    whole = {cell.domain for cell in pooled if cell.reason is None}
    instead = {cell.domain for cell in substituted if cell.reason is None} - whole
    return [
        cell for cell in (*pooled, *substituted) if (cell.variant == SUBSTITUTED) == (cell.domain in instead)
    ]


def cells(
    scores: Iterable[Score], domains: Sequence[Domain], *, variant: str = STANDARD, slice_: str = MICRO
) -> list[Cell]:
    """Return a cell for each assistant in each of `domains`."""
    names = {domain.name for domain in domains}
    by_key = {
        (score.domain, score.assistant, score.metric): score
        for score in scores
        if score.domain in names
        and score.metric in SCALES
        and score.variant == variant
        and (score.slice == slice_ or (score.value is None and score.slice == MICRO))
    }
    assistants = sorted({assistant for _, assistant, _ in by_key})
    return [
        Cell(
            str(parameters_of(domain).partition),
            domain.name,
            assistant,
            variant,
            by_key.get((domain.name, assistant, "min_max")),
            by_key.get((domain.name, assistant, "z_score")),
            slice_.removeprefix(DATASET) if slice_.startswith(DATASET) else "",
        )
        for assistant in assistants
        for domain in domains
    ]
