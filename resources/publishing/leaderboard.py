"""Computation of the leaderboard's rows, from changed partitions and from cached values of the others.

domain_scores.py computes the scores of one domain.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from memflow.errors import DamagedFile
from memflow.records import Score
from memflow.repeats import plain_name, suffix
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog, scored_domains
from memflow.resources.publishing.domain_scores import QUERIED, SCORED, STATES, DomainScorer
from memflow.resources.publishing.score_cache import DomainCache
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings
from memflow.scoring.drift import INPUTS
from memflow.scoring.noise import with_noise

Computed = TypeVar("Computed")
VERDICTS = "score.verdicts"


@dataclass(frozen=True)
class CachedScores:
    """The cache of the scores of unchanged partitions, and a function for the version of a benchmark's scoring code."""

    path: Path
    code: Callable[[str], str]


def leaderboard_rows(
    settings: Settings, lake: Lake, warehouse: Warehouse, cached: CachedScores | None = None
) -> list[Score]:
    """Return the scores of every assistant in every stored domain that the settings can resolve (`scored_domains`).

    Scores with repeats have their noise. Without `cached`, all scores are computed and none is cached. Partitions with
    a damaged file are left out.
    """

    def compute() -> list[Score]:
        scores = _leaderboard_rows(settings, lake, warehouse, cached)
        names = {suffix(name) for name in lake.partitions(VERDICTS)} - {""}
        repeated = [
            score
            for name in sorted(names)
            for score in _leaderboard_rows(settings, lake, warehouse, cached, name)
        ]
        return with_noise(scores, repeated) if repeated else scores

    return without_damaged(compute)


def without_damaged(compute: Callable[[], Computed]) -> Computed:
    """Return the result of a computation that leaves out damaged partitions. Repeat it when it finds another one."""
    found: set[str] = set()
    while True:
        try:
            return compute()
        except DamagedFile as wrong:
            if str(wrong) in found:
                raise
            found.add(str(wrong))


def _leaderboard_rows(
    settings: Settings, lake: Lake, warehouse: Warehouse, cached: CachedScores | None, repeat: str = ""
) -> list[Score]:
    """Return the scores of the first evaluations, or with `repeat`, such as `answers2`, of these repeats."""
    catalog = PartitionCatalog(lake, SCORED, repeat)
    left_out = {*damaged_partitions(settings, lake)}
    assistants: dict[str, list[str]] = {}
    current = same_inputs(lake, catalog) if repeat else catalog.of(VERDICTS)
    for partition in current:
        if partition not in left_out:
            name, _, assistant = partition.partition("/")
            assistants.setdefault(name, []).append(assistant)
    scorers = []
    for name in scored_domains(settings, catalog.of("question.probes")):
        if name not in left_out:
            domain = settings.domain(name)
            cache = DomainCache(f"{name} {repeat}".strip(), None if cached is None else cached.path)
            code = "" if cached is None else cached.code(domain.benchmark)
            scorers.append(DomainScorer(domain, assistants.get(name, ()), lake, catalog, cache, code))
    changed = {partition for scorer in scorers for partition in scorer.partitions}
    if changed:
        with warehouse.session(QUERIED, changed) as session:
            for scorer in scorers:
                scorer.query(session)
    return [score for scorer in scorers for score in scorer.scores()]


def same_inputs(lake: Lake, repeats: PartitionCatalog) -> list[str]:
    """Return the partitions of repeats whose verdicts have the inputs of the first evaluation: models, prompts, code.

    Repeats of an evaluation before a change do not measure the noise of the one after it.
    """
    found = []
    for partition, entry in repeats.of(VERDICTS).items():
        domain, _, assistant = partition.partition("/")
        first = lake.intact_facts(VERDICTS, f"{domain}/{plain_name(assistant)}")
        if first is not None and first.meta.get(INPUTS) == entry.facts.meta.get(INPUTS):
            found.append(partition)
    return found


def damaged_partitions(settings: Settings, lake: Lake) -> list[str]:
    """Return the partitions without scores, because a file of theirs is damaged or has other columns."""
    return sorted(
        {
            partition
            for table in (*SCORED, STATES)
            for partition in lake.partitions(table)
            if settings.has_domain(partition.partition("/")[0]) and lake.damage(table, partition) is not None
        }
    )
