"""Computation of the leaderboard's rows. domain_scores.py computes the scores of one domain.

The metadata of the table has a hash of the inputs of each assistant in a domain. If it did not change, the rows stay.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from memflow.benchmarks import registry
from memflow.errors import DamagedFile
from memflow.fingerprint import digest
from memflow.pipeline import CALIBRATIONS, partition_key
from memflow.records import Score
from memflow.repeats import plain_name, suffix, with_memory
from memflow.resources.lake.columns import declared_columns
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog, scored_domains
from memflow.resources.publishing.domain_scores import QUERIED, SCORED, STATES, DomainScorer
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings
from memflow.scoring.drift import INPUTS
from memflow.scoring.noise import with_noise

Computed = TypeVar("Computed")
VERDICTS = "score.verdicts"
INPUT_TABLES = tuple(dict.fromkeys((*SCORED, STATES, CALIBRATIONS)))
HASHES = "hashes"
"""The metadata key of the hashes of the inputs of a published table."""
ADDED = dict.fromkeys(
    (
        *("rank_low", "rank_high", "repeats", "repeats_of", "repeat_mean", "repeat_deviation"),
        *("noise", "noise_low", "noise_high", "noise_degrees"),
    )
)
"""The columns of a score that are added after the scores of a domain are computed."""


class PublishedTable(NamedTuple):
    """The rows of a table that a run publishes, and the metadata to store with them."""

    rows: Sequence[Any]
    meta: Mapping[str, str] = {}


def stored_table(lake: Lake, table: str) -> tuple[list[Any], dict[str, Any]]:
    """Return a table's rows and the input hashes of its last publication; both empty if it is missing or damaged."""
    facts = lake.intact_facts(table, "all")
    if facts is None or HASHES not in facts.meta:
        return [], {}
    return lake.read(table, "all"), json.loads(facts.meta[HASHES])


def leaderboard(
    settings: Settings, lake: Lake, warehouse: Warehouse, code: Callable[[str], str] | None = None
) -> PublishedTable:
    """Return the scores of every assistant in every stored domain that the settings can resolve (`scored_domains`).

    Scores with repeats have their noise. Partitions with a damaged file are left out. `code` returns the version of a
    benchmark's scoring code; without it, all scores are computed.
    """

    def compute() -> PublishedTable:
        catalog = PartitionCatalog(lake, INPUT_TABLES)
        hashes = {} if code is None else _hashes(settings, catalog, code)
        former, former_hashes = stored_table(lake, "score.leaderboard") if hashes else ([], {})
        unchanged: dict[str, list[Score]] = {}
        for score in former:
            key = partition_key(score.domain, score.assistant)
            if key in hashes and former_hashes.get(key) == hashes[key]:
                unchanged.setdefault(key, []).append(replace(score, **ADDED))
        scores = _scores(settings, lake, warehouse, catalog, unchanged)
        names = {suffix(name) for name in lake.partitions(VERDICTS)} - {""}
        repeated = [
            score
            for name in sorted(names)
            for score in _scores(settings, lake, warehouse, PartitionCatalog(lake, SCORED, name), {}, name)
        ]
        return PublishedTable(
            with_noise(scores, repeated) if repeated else scores, {HASHES: json.dumps(hashes)}
        )

    return without_damaged(compute)


def _hashes(settings: Settings, catalog: PartitionCatalog, code: Callable[[str], str]) -> dict[str, str]:
    """Return the hash of all that the scores of each assistant in a domain are computed from, by partition."""
    versions: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for table in INPUT_TABLES:
        for partition, entry in catalog.of(table).items():
            domain, _, assistant = partition.partition("/")
            versions.setdefault(domain, {}).setdefault(assistant, []).append((table, entry.version))
    hashes = {}
    for name in scored_domains(settings, catalog.of("question.probes")):
        found, of_domain = settings.domain(name), versions[name]
        benchmark = registry.benchmark(found.benchmark)
        shared = digest(
            code(found.benchmark),
            declared_columns(),
            (found.name, found.datasets, found.parameters, found.seed, found.limit),
            # Scores that are scaled by all assistants depend on all of them.
            of_domain if benchmark.aggregates_in_sql else of_domain[""],
        )
        for assistant in of_domain.keys() - {""}:
            baselines = (with_memory(assistant, memory) for memory in ("none", "oracle"))
            read = [of_domain.get(other, []) for other in (assistant, *baselines)]
            hashes[partition_key(name, assistant)] = digest(shared, read)
    return hashes


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


def _scores(
    settings: Settings,
    lake: Lake,
    warehouse: Warehouse,
    catalog: PartitionCatalog,
    unchanged: Mapping[str, Sequence[Score]],
    repeat: str = "",
) -> list[Score]:
    """Return the scores of the first evaluations, or with `repeat`, such as `answers2`, of these repeats.

    `unchanged` has the stored scores of partitions that are not computed.
    """
    left_out = {*damaged_partitions(settings, lake)}
    assistants: dict[str, list[str]] = {}
    current = same_inputs(lake, catalog) if repeat else catalog.of(VERDICTS)
    for partition in current:
        if partition not in left_out:
            name, _, assistant = partition.partition("/")
            assistants.setdefault(name, []).append(assistant)
    scorers = [
        DomainScorer(settings.domain(name), assistants.get(name, ()), lake, catalog, unchanged)
        for name in scored_domains(settings, catalog.of("question.probes"))
        if name not in left_out
    ]
    queried = {partition for scorer in scorers for partition in scorer.partitions}
    with warehouse.session(QUERIED if queried else (), queried) as session:
        return [score for scorer in scorers for score in scorer.scores(session)]


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
