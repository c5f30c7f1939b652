"""Computation of the leaderboard's rows, from changed partitions and from cached values of the others.

domain_scores.py computes the scores of one domain.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from memflow.errors import DamagedFile
from memflow.records import Score
from resources.lake.lake import Lake
from resources.lake.partition_catalog import PartitionCatalog, scored_domains
from resources.publishing.domain_scores import QUERIED, SCORED, STATES, DomainScorer
from resources.publishing.score_cache import DomainCache
from resources.publishing.warehouse import Warehouse
from resources.settings.settings import Settings

Computed = TypeVar("Computed")


@dataclass(frozen=True)
class CachedScores:
    """The cache of the scores of unchanged partitions, and a function for the version of a benchmark's scoring code."""

    path: Path
    code: Callable[[str], str]


def leaderboard_rows(
    settings: Settings, lake: Lake, warehouse: Warehouse, cached: CachedScores | None = None
) -> list[Score]:
    """Return the scores of every assistant in every stored domain that the settings can resolve (`scored_domains`).

    Without `cached`, all scores are computed and none is cached. Partitions with a damaged file are left out.
    """
    return without_damaged(lambda: _leaderboard_rows(settings, lake, warehouse, cached))


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
    settings: Settings, lake: Lake, warehouse: Warehouse, cached: CachedScores | None
) -> list[Score]:
    catalog = PartitionCatalog(lake, SCORED)
    former = {*former_partitions(settings, lake), *damaged_partitions(settings, lake)}
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
    lake = lake.listing_view()
    return _scored_partitions(settings, lake, SCORED, lake.is_former)


def damaged_partitions(settings: Settings, lake: Lake) -> list[str]:
    """Return the partitions without scores, because the file of one of their tables is damaged."""
    lake = lake.listing_view()
    return _scored_partitions(
        settings,
        lake,
        (*SCORED, STATES),
        lambda table, partition: lake.damage(table, partition) is not None,
    )


def _scored_partitions(
    settings: Settings, lake: Lake, tables: Sequence[str], is_left_out: Callable[[str, str], bool]
) -> list[str]:
    return sorted(
        {
            partition
            for table in tables
            for partition in lake.partitions(table)
            if settings.has_domain(partition.partition("/")[0]) and is_left_out(table, partition)
        }
    )
