"""The paired comparison of operands in one domain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memflow.benchmarks import registry
from memflow.errors import BadInput
from memflow.operations.operands import Stored, same_probes, values_of, withheld_metrics
from memflow.records import Comparison
from memflow.scoring import comparisons
from memflow.scoring.judges import STANDARD
from memflow.scoring.noise import with_difference_noise
from memflow.scoring.published_health import with_pair_health
from memflow.scoring.scripted import SCRIPTED_JUDGE

if TYPE_CHECKING:
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

ALL = "all"


@dataclass(frozen=True)
class DomainComparison:
    """The comparison of the operands in one domain, of which `rows` compare the first with each of the others.

    `changed` counts omitted probes, whose question, options, gold or checkpoint differs.
    """

    title: str
    operands: "Sequence[Stored]"
    rows: Sequence[Comparison]
    changed: int
    withheld: Mapping[str, str] = field(default_factory=dict)
    """The metrics whose judge failed its calibration, with the reason."""


def compare_domain(
    settings: "Settings", lake: "Lake", stored: "Sequence[Stored]", checkpoint: int | None = None
) -> "DomainComparison":
    """Return the comparison of the first operand with each of the others in one domain.

    With `checkpoint`, its questions alone are compared; noise is not known of them. Raises BadInput if there are none.
    """
    sources = [source for _, source, _ in stored]
    domains = [settings.domain(source.domain) for source in sources]
    if len({of.benchmark for of in domains}) > 1:
        names = ", ".join(f"{of.name} ({of.benchmark})" for of in domains)
        raise BadInput(f"these domains are of different benchmarks: {names}. Compare within one benchmark.")
    benchmark = registry.benchmark(domains[0].benchmark)
    probes, changed = same_probes(stored)
    title = " and ".join(dict.fromkeys(of.name for of in domains))
    if checkpoint is not None:
        known = sorted({probe.checkpoint for probe in probes})
        probes = [probe for probe in probes if probe.checkpoint == checkpoint]
        if not probes:
            asked = ", ".join(map(str, known))
            raise BadInput(
                f"{title} has no common question at checkpoint {checkpoint}. Choose one of {asked}."
            )
    values = values_of(stored, benchmark, probes)
    context = comparisons.DomainContext(
        title,
        values.assistants,
        [source.meta.get("scripted") == "yes" for source in sources],
        domains[0].seed,
        [source.meta.get(SCRIPTED_JUDGE) == "yes" for source in sources],
        benchmark.judged_metrics,
    )
    pairs = comparisons.compare(
        context, [*benchmark.measures(domains[0], values)], [(0, other) for other in range(1, len(stored))]
    )
    health = {operand.label: source.health for operand, source, _ in stored if source.health is not None}
    variant = stored[0].operand.variant
    rows = [
        replace(row, variant=variant) if row.variant == STANDARD else row
        for row in with_pair_health(pairs, health)
    ]
    # P values are adjusted over the pairs in the slice `all`, and over all other slices.
    rows = comparisons.adjust_families(rows, lambda row: (row.metric, row.slice == ALL))
    scores = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    withheld = {metric: reason for operand in stored for metric, reason in withheld_metrics(operand).items()}
    if checkpoint is None:
        return DomainComparison(title, stored, with_difference_noise(rows, scores), changed, withheld)
    return DomainComparison(f"{title}, checkpoint {checkpoint}", stored, rows, changed, withheld)
