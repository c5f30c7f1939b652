"""Computation of the leaderboard's rows, from changed partitions and from cached values of the others.

domain_scores.py computes the scores of one domain.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memflow.records import Score
from resources.domain_scores import QUERIED, SCORED, DomainScorer
from resources.lake import Lake
from resources.partition_catalog import PartitionCatalog, scored_domains
from resources.score_cache import DomainCache
from resources.settings import Settings
from resources.warehouse import Warehouse


@dataclass(frozen=True)
class CachedScores:
    """The cache of the scores of unchanged partitions, and a function for the version of a benchmark's scoring code."""

    path: Path
    code: Callable[[str], str]


def leaderboard_rows(
    settings: Settings, lake: Lake, warehouse: Warehouse, cached: CachedScores | None = None
) -> list[Score]:
    """Return the scores of every assistant in every stored domain that the settings can resolve (`scored_domains`).

    Without `cached`, all scores are computed and none is cached.
    """
    catalog = PartitionCatalog(lake, SCORED)
    former = former_partitions(settings, lake)
    assistants: dict[str, list[str]] = {}
    for partition in catalog.of("score.verdicts"):
        if partition not in former:
            name, _, assistant = partition.partition("/")
            assistants.setdefault(name, []).append(assistant)
    scorers = []
    for name in scored_domains(settings, catalog.of("question.probes")):
        if name not in former:
            domain = settings.domain(name)
            cache = DomainCache(name, None if cached is None else cached.path)
            code = "" if cached is None else cached.code(domain.benchmark)
            scorers.append(DomainScorer(domain, assistants.get(name, ()), lake, catalog, cache, code))
    changed = {partition for scorer in scorers for partition in scorer.partitions}
    if changed:
        with warehouse.session(QUERIED, changed) as session:
            for scorer in scorers:
                scorer.query(session)
    return [score for scorer in scorers for score in scorer.scores()]


def former_partitions(settings: Settings, lake: Lake) -> list[str]:
    """Return the partitions without scores, because one of their tables has another memflow version's columns."""
    lake = lake.listed()
    return sorted(
        {
            partition
            for table in SCORED
            for partition in lake.partitions(table)
            if settings.has_domain(partition.partition("/")[0]) and lake.is_former(table, partition)
        }
    )
