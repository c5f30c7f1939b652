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
from memflow.scoring.estimate import MetricContext, probe_score, valid_probes


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant for every metric and slice."""
    probes = valid_probes(results)
    context = replace(
        MetricContext.from_results(domain, results),
        independent=frozenset(probe.episode_id for probe in probes),
    )
    values: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in results.verdicts:
        values.setdefault((row.metric, row.variant), {})[row.probe_id] = row.value
    scores = []
    for name, members in probe_slices(probes).items():
        for (metric, variant), found in values.items():
            asked = [probe for probe in members if probe.probe_id in found]
            if variant == PUBLISHED:
                asked = [probe for probe in asked if found[probe.probe_id] is not None]
            if asked:
                valued = {probe_id: value for probe_id, value in found.items() if value is not None}
                scores.append(probe_score(context, metric, asked, valued, variant=variant, slice_name=name))
    return scores


def probe_slices(probes: Sequence[Probe]) -> Mapping[str, list[Probe]]:
    """Return the probes of every slice: `all`, the sources if there are several, and the slices of the probes."""
    sources = sorted({probe.category for probe in probes if probe.category})
    slices = {"all": list(probes)}
    if len(sources) > 1:
        slices |= {source: [probe for probe in probes if probe.category == source] for source in sources}
        names = sorted({name for probe in probes for name in probe.slices})
        slices |= {name: [probe for probe in probes if name in probe.slices] for name in names}
    return slices
