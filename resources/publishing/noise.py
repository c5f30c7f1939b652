"""The variance components of stored verdicts: episodes, questions, play, answers and judge, by domain and metric.

memflow/metrics/variance.py has the statistics, memflow/scoring/measures.py what is compared.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.metrics.variance import Component, RepeatedValues, components
from memflow.repeats import Kind, plain_name, repeat_in, suffix
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog
from memflow.resources.publishing.comparisons import (
    PROBES,
    VERDICTS,
    VerdictSource,
    current_assistants,
    oracles_of,
    valid_test_probes,
    verdict_values,
)
from memflow.resources.publishing.health import stored_health
from memflow.resources.publishing.leaderboard import same_inputs
from memflow.scoring.measures import Array, MeanMeasure


class MetricNoise(NamedTuple):
    """The variance components of one metric in one domain, pooled over assistants."""

    domain: str
    metric: str
    assistants: list[str]
    """The assistants with values."""
    repeats: dict[str, int]
    """The most evaluations of an assistant, the first included, by kind of repeat."""
    questions: int
    episodes: int
    components: list[Component]
    scripted: bool


def domain_noise(domain: Domain, lake: Lake) -> Iterator[MetricNoise]:
    """Yield the variance components of each metric that assistants of a domain are compared under, if it is a mean.

    If there are repeats of runs, those of answers are not used: equal requests of both share their completions. Faulty
    assistants have no values.
    """
    found = current_assistants(PartitionCatalog(lake, (PROBES, VERDICTS)), domain.name)
    for repeat in sorted({suffix(name) for name in lake.partitions(VERDICTS)} - {""}):
        catalog = PartitionCatalog(lake, (PROBES, VERDICTS), repeat)
        current = same_inputs(lake, catalog)
        repeated = current_assistants(catalog, domain.name)
        found |= {name: meta for name, meta in repeated.items() if f"{domain.name}/{name}" in current}
    names = list(found)
    sources = [
        VerdictSource(
            lake, domain.name, name, meta, health=stored_health(lake, domain.name, plain_name(name))
        )
        for name, meta in found.items()
    ]
    values = verdict_values(names, sources, oracles_of(names), valid_test_probes(lake, domain.name))
    scripted = any(meta.get("scripted") == "yes" for meta in found.values())
    benchmark = registry.benchmark(domain.benchmark)
    for measure in benchmark.measures(domain, values):
        if isinstance(measure, MeanMeasure):
            judged = measure.metric in benchmark.judged_metrics
            yield _noise(domain.name, names, measure, judged, scripted)


def _noise(
    domain: str, names: Sequence[str], measure: MeanMeasure, judged: bool, scripted: bool
) -> MetricNoise:
    rows: dict[str, dict[str, list[Array]]] = {}
    for name, values in zip(names, measure.values, strict=True):
        plain, kind, _ = repeat_in(name)
        rows.setdefault(plain, {}).setdefault(kind, []).append(values)
    assistants = {
        name: repeated
        for name, by_kind in rows.items()
        if "" in by_kind and (repeated := _repeated_values(measure.episodes, by_kind)).episodes
    }
    kinds = [kind for name in assistants for kind in rows[name]]
    return MetricNoise(
        domain,
        measure.metric,
        list(assistants),
        {
            kind.value: max(1 + len(rows[name].get(kind, ())) for name in assistants)
            for kind in Kind
            if kind in kinds
        },
        max((len(each.episodes) for each in assistants.values()), default=0),
        max((len({*each.episodes}) for each in assistants.values()), default=0),
        components(assistants.values(), judged=judged),
        scripted,
    )


def _repeated_values(episodes: Sequence[str], by_kind: dict[str, list[Array]]) -> RepeatedValues:
    """Return the values of one assistant by kind of repeat, of the items with a value in all of them."""
    runs = by_kind.get(Kind.run)
    values = np.stack([*by_kind[""], *(runs or by_kind.get(Kind.answers, []))])
    judgings = np.stack([*by_kind[""], *by_kind.get(Kind.judge, [])])
    known = np.isfinite(np.vstack([values, judgings])).all(axis=0)
    return RepeatedValues(
        [episode for episode, is_known in zip(episodes, known.tolist(), strict=True) if is_known],
        values[:, known],
        judgings[:, known],
        runs is not None,
    )
