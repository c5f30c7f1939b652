"""Scores of MemoryAgentBench: each metric over all questions, by source, by size, and by single-hop and multi-hop.

The figure of several sources is the mean over their questions; FactConsolidation's texts have 100 each, so it is the
published mean over sources. All questions of a text share it: intervals are over questions, given the texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memoryagentbench.sources import PUBLISHED
from memflow.records import Probe, Score
from memflow.scoring.estimate import MetricContext, slice_scores, valid_probes, values_by_metric


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant for every metric and slice."""
    probes = valid_probes(results)
    context = replace(
        MetricContext.from_results(domain, results),
        independent=frozenset(probe.episode_id for probe in probes),
    )
    rows = [row for row in results.verdicts if row.variant != PUBLISHED or row.value is not None]
    return slice_scores(context, values_by_metric(rows), probe_slices(probes))


def probe_slices(probes: Sequence[Probe]) -> Mapping[str, list[Probe]]:
    """Return the probes of every slice: `all`, the sources if there are several, and the slices of the probes."""
    sources = sorted({probe.category for probe in probes if probe.category})
    slices = {"all": list(probes)}
    if len(sources) > 1:
        slices |= {source: [probe for probe in probes if probe.category == source] for source in sources}
        names = sorted({name for probe in probes for name in probe.slices})
        slices |= {name: [probe for probe in probes if name in probe.slices] for name in names}
    return slices
