"""The rows of score.comparisons: every two assistants of each domain. Only changed pairs are computed again.

The cache has the rows of each two assistants of a domain, with a key of everything that they are computed from. P
values are adjusted afterwards, because they depend on all pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.fingerprint import digest
from memflow.pipeline import partition_key
from memflow.records import Comparison, Probe
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog, scored_domains
from memflow.resources.publishing.health import HEALTH, cached_health
from memflow.resources.publishing.leaderboard import (
    CachedScores,
    damaged_partitions,
    without_damaged,
)
from memflow.resources.publishing.score_cache import DomainCache, plain_values, rows_of
from memflow.resources.settings.settings import Settings
from memflow.scoring.comparisons import DomainContext, adjust_families, all_pairs, compare
from memflow.scoring.leaderboard import bound
from memflow.scoring.measures import STANDARD, Array, VerdictValues
from memflow.scoring.published_health import AssistantHealth, is_faulty, with_pair_health
from memflow.scoring.scripted import SCRIPTED_JUDGE

PROBES, VERDICTS = "question.probes", "score.verdicts"
KIND = "comparisons"
MOST_BY_SLICE = 24
"""Above this number of assistants in a domain, pairs are compared over all probes only: the number of pairs grows with
its square. `memflow compare` computes the slices of any pair."""


def comparison_rows(settings: Settings, lake: Lake, cached: CachedScores | None = None) -> list[Comparison]:
    """Return the comparisons of every two assistants in every scored domain.

    In a domain of more than MOST_BY_SLICE assistants, they are compared over all probes only. Without `cached`, all
    are computed and none is cached. Partitions with a damaged file are left out.
    """
    return without_damaged(lambda: _comparison_rows(settings, lake, cached))


def _comparison_rows(settings: Settings, lake: Lake, cached: CachedScores | None) -> list[Comparison]:
    catalog = PartitionCatalog(lake, (PROBES, VERDICTS, HEALTH))
    left_out = {*damaged_partitions(settings, lake)}
    found = []
    for name in scored_domains(settings, catalog.of(PROBES)):
        if name not in left_out:
            domain = settings.domain(name)
            code = "" if cached is None else cached.code(domain.benchmark)
            cache = DomainCache(f"{KIND} {name}", None if cached is None else cached.path)
            assistants = current_assistants(catalog, name, left_out)
            found += _domain_rows(domain, assistants, lake, catalog, cache, code)
    return found


def current_assistants(
    catalog: PartitionCatalog, domain: str, left_out: set[str] | frozenset[str] = frozenset()
) -> dict[str, Mapping[str, str]]:
    """Return the metadata of the verdicts on the current probes of a domain, by assistant."""
    probes = catalog.get(PROBES, domain)
    found = {}
    for partition, entry in catalog.of(VERDICTS).items():
        of_domain, _, assistant = partition.partition("/")
        meta = entry.facts.meta
        if (
            of_domain == domain
            and partition not in left_out
            and probes is not None
            and meta.get("probes") == probes.facts.digest
        ):
            found[assistant] = meta
    return found


@dataclass(frozen=True)
class VerdictSource:
    """The verdicts of one assistant: where they are, the metadata of their partition, and the variant to compare.

    The verdicts of a faulty assistant (`health`) have no values.
    """

    lake: Lake
    domain: str
    assistant: str
    meta: Mapping[str, str]
    variant: str = STANDARD
    health: AssistantHealth | None = None


def verdict_values(
    names: Sequence[str],
    sources: Sequence[VerdictSource],
    oracles: Sequence[int | None],
    probes: Sequence[Probe],
) -> VerdictValues:
    """Return the verdicts of several sources on `probes` as arrays, with a name for each source."""
    places = {probe.probe_id: at for at, probe in enumerate(probes)}
    values: dict[str, Array] = {}
    for row, source in enumerate(sources):
        key = partition_key(source.domain, source.assistant)
        columns = source.lake.columns(VERDICTS, key, ("probe_id", "metric", "variant", "value"))
        for probe, metric, variant, value in columns:
            at = places.get(probe)
            if at is None or value is None or variant != source.variant:
                continue
            if metric not in values:
                values[metric] = np.full((len(sources), len(probes)), np.nan)
            if source.health is None or not source.health.is_faulty:
                values[metric][row, at] = value
    return VerdictValues(probes, names, [source.meta["model"] for source in sources], oracles, values)


def oracles_of(
    assistants: Sequence[str], health: Mapping[str, AssistantHealth] | None = None
) -> list[int | None]:
    """Return the position of the memory `oracle` with the same model, for each assistant of a domain.

    It is None if `oracle` was not run or is faulty.
    """
    places = {name: at for at, name in enumerate(assistants) if not is_faulty(name, health or {})}
    return [places.get(bound(name, "oracle")) for name in assistants]


def valid_test_probes(lake: Lake, domain: str) -> list[Probe]:
    """Return the probes of a domain that are compared: those of split `test` that are not quarantined."""
    return [probe for probe in lake.read(PROBES, domain) if probe.split == "test" and probe.reason is None]


def _domain_rows(
    domain: Domain,
    assistants: Mapping[str, Mapping[str, str]],
    lake: Lake,
    catalog: PartitionCatalog,
    cache: DomainCache,
    code: str,
) -> list[Comparison]:
    names = list(assistants)
    benchmark = registry.benchmark(domain.benchmark)
    health = {
        name: found
        for name in names
        if (found := cached_health(lake, catalog, cache, domain.name, name)) is not None
    }
    versions = {
        name: "" if is_faulty(name, health) else catalog.version(VERDICTS, partition_key(domain.name, name))
        for name in names
    }
    inputs = digest(code, (domain.name, domain.parameters, domain.seed), catalog.version(PROBES, domain.name))
    # Scores that are scaled by all assistants depend on all verdicts.
    population = [*versions.values()] if benchmark.aggregates_in_sql else []
    by_slice = len(names) <= MOST_BY_SLICE
    keys = {}
    for a, b in all_pairs(len(names)):
        behind = {
            name: [assistants[name].get(key, "") for key in ("scripted", SCRIPTED_JUDGE)]
            for name in (names[a], names[b])
        }
        read = {*behind, *(bound(name, "oracle") for name in behind)}
        keys[a, b] = digest(
            inputs, behind, {name: versions.get(name, "") for name in sorted(read)}, population, by_slice
        )
    cached = {pair: f"{names[pair[0]]}/{names[pair[1]]}" for pair in keys}
    stale = {pair for pair, key in keys.items() if not cache.has(cached[pair], KIND, key)}
    computed: dict[tuple[str, str], list[Comparison]] = {}
    if stale:
        sources = [
            VerdictSource(lake, domain.name, name, meta, health=health.get(name))
            for name, meta in assistants.items()
        ]
        oracles = oracles_of(names, health)
        values = verdict_values(names, sources, oracles, valid_test_probes(lake, domain.name))
        scripted = [meta.get("scripted") == "yes" for meta in assistants.values()]
        judged = [meta.get(SCRIPTED_JUDGE) == "yes" for meta in assistants.values()]
        context = DomainContext(domain.name, names, scripted, domain.seed, judged, benchmark.judged_metrics)
        for row in compare(context, benchmark.measures(domain, values), sorted(stale), by_slice):
            computed.setdefault((row.a, row.b), []).append(row)
    rows = []
    for (a, b), key in keys.items():
        if (a, b) in stale:
            of_pair = computed.get((names[a], names[b]), [])
            cache.put(cached[a, b], KIND, key, plain_values(of_pair))
        else:
            of_pair = rows_of(Comparison, cache.get(cached[a, b], KIND))
        rows += of_pair
    cache.save([*cached.values(), *names])
    rows = with_pair_health(rows, health)
    return adjust_families(sorted(rows, key=lambda row: (row.metric, row.variant, row.slice)))
