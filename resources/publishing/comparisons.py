"""The rows of score.comparisons: every two assistants of each domain. Only changed pairs are computed again.

The metadata of the table has a hash of what each domain and assistant is compared by. A pair whose hashes did not
change keeps its stored rows. P values are adjusted afterwards, because they depend on all pairs.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.fingerprint import digest
from memflow.pipeline import partition_key
from memflow.records import Comparison, Probe
from memflow.repeats import with_memory
from memflow.resources.lake.columns import declared_columns
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog, scored_domains
from memflow.resources.publishing.health import HEALTH, stored_health
from memflow.resources.publishing.leaderboard import (
    HASHES,
    PublishedTable,
    damaged_partitions,
    stored_table,
    without_damaged,
)
from memflow.resources.settings.settings import Settings
from memflow.scoring.comparisons import DomainContext, adjust_families, all_pairs, compare
from memflow.scoring.measures import STANDARD, Array, VerdictValues
from memflow.scoring.published_health import AssistantHealth, is_faulty, with_pair_health
from memflow.scoring.scripted import SCRIPTED_JUDGE

PROBES, VERDICTS, COMPARISONS = "question.probes", "score.verdicts", "score.comparisons"
MOST_BY_SLICE = 24
"""Above this number of assistants in a domain, pairs are compared over all probes only: the number of pairs grows with
its square. `memflow compare` computes the slices of any pair."""
Hashes = Mapping[str, str]
"""The hash of what each assistant of a domain is compared by, and under "" that of the domain."""


def comparison_table(settings: Settings, lake: Lake, code: Callable[[str], str]) -> PublishedTable:
    """Return the comparisons of every two assistants in every scored domain.

    `code` returns the version of a benchmark's scoring code. In a domain of more than MOST_BY_SLICE assistants, they
    are compared over all probes only. Partitions with a damaged file are left out.
    """
    return without_damaged(lambda: _comparison_table(settings, lake, code))


def _comparison_table(settings: Settings, lake: Lake, code: Callable[[str], str]) -> PublishedTable:
    catalog = PartitionCatalog(lake, (PROBES, VERDICTS, HEALTH))
    left_out = {*damaged_partitions(settings, lake)}
    former, former_hashes = stored_table(lake, COMPARISONS)
    rows: list[Comparison] = []
    hashes: dict[str, Hashes] = {}
    for name in scored_domains(settings, catalog.of(PROBES)):
        if name not in left_out:
            domain = settings.domain(name)
            assistants = current_assistants(catalog, name, left_out)
            health = {
                assistant: found
                for assistant in assistants
                if (found := stored_health(lake, name, assistant)) is not None
            }
            hashes[name] = _hashes(domain, assistants, health, catalog, code(domain.benchmark))
            of_domain = (row for row in former if row.domain == name)
            unchanged = _unchanged_rows(of_domain, former_hashes.get(name, {}), hashes[name])
            rows += _domain_rows(domain, assistants, health, lake, unchanged)
    return PublishedTable(rows, {HASHES: json.dumps(hashes)})


def _unchanged_rows(
    rows: Iterable[Comparison], former: Hashes, hashes: Hashes
) -> dict[tuple[str, str], list[Comparison]]:
    """Return the stored rows of each pair of a domain that is compared by the same hashes as before.

    They are without the noise, which is added after the pairs are compared.
    """
    if former.get("") != hashes[""]:
        return {}
    same = [
        name
        for name in hashes.keys() - {""}
        if all(former.get(of) == hashes.get(of) for of in (name, with_memory(name, "oracle")))
    ]
    found: dict[tuple[str, str], list[Comparison]] = {(a, b): [] for a in same for b in same}
    for row in rows:
        if (row.a, row.b) in found:
            without_noise = replace(row, noise=None, noise_low=None, noise_high=None, within_noise=None)
            found[row.a, row.b].append(without_noise)
    return found


def _hashes(
    domain: Domain,
    assistants: Mapping[str, Mapping[str, str]],
    health: Mapping[str, AssistantHealth],
    catalog: PartitionCatalog,
    code: str,
) -> Hashes:
    """Return the hash of what each assistant of a domain is compared by, and under "" that of the domain."""
    hashes = {
        name: digest(
            health[name].statement
            if is_faulty(name, health)
            else catalog.version(VERDICTS, partition_key(domain.name, name)),
            [meta.get(key, "") for key in ("scripted", SCRIPTED_JUDGE)],
        )
        for name, meta in assistants.items()
    }
    # Scores that are scaled by all assistants depend on all verdicts.
    population = hashes if registry.benchmark(domain.benchmark).aggregates_in_sql else {}
    parameters = (domain.name, domain.parameters, domain.seed)
    by_slice = len(assistants) <= MOST_BY_SLICE
    probes = catalog.version(PROBES, domain.name)
    return {"": digest(code, declared_columns(), parameters, probes, population, by_slice), **hashes}


def current_assistants(
    catalog: PartitionCatalog, domain: str, left_out: set[str] | frozenset[str] = frozenset()
) -> dict[str, Mapping[str, str]]:
    """Return, by assistant, the metadata of its verdicts if they are on the domain's current probes."""
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
    return [places.get(with_memory(name, "oracle")) for name in assistants]


def valid_test_probes(lake: Lake, domain: str) -> list[Probe]:
    """Return the probes of a domain that are compared: those of split `test` that are not quarantined."""
    return [probe for probe in lake.read(PROBES, domain) if probe.split == "test" and probe.reason is None]


def _domain_rows(
    domain: Domain,
    assistants: Mapping[str, Mapping[str, str]],
    health: Mapping[str, AssistantHealth],
    lake: Lake,
    unchanged: Mapping[tuple[str, str], list[Comparison]],
) -> list[Comparison]:
    """Return the comparisons of every two assistants of a domain; only pairs that are not `unchanged` are computed."""
    names = list(assistants)
    benchmark = registry.benchmark(domain.benchmark)
    pairs = all_pairs(len(names))
    changed = [(a, b) for a, b in pairs if (names[a], names[b]) not in unchanged]
    rows = [row for a, b in pairs for row in unchanged.get((names[a], names[b]), ())]
    if changed:
        sources = [
            VerdictSource(lake, domain.name, name, meta, health=health.get(name))
            for name, meta in assistants.items()
        ]
        oracles = oracles_of(names, health)
        values = verdict_values(names, sources, oracles, valid_test_probes(lake, domain.name))
        scripted = [meta.get("scripted") == "yes" for meta in assistants.values()]
        judged = [meta.get(SCRIPTED_JUDGE) == "yes" for meta in assistants.values()]
        context = DomainContext(domain.name, names, scripted, domain.seed, judged, benchmark.judged_metrics)
        by_slice = len(names) <= MOST_BY_SLICE
        rows += compare(context, benchmark.measures(domain, values), changed, by_slice)
    rows = with_pair_health(rows, health)
    places = {name: place for place, name in enumerate(names)}
    return adjust_families(
        sorted(rows, key=lambda row: (row.metric, row.variant, row.slice, places[row.a], places[row.b]))
    )
