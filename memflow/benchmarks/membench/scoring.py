"""Scores of MemBench: accuracy and chance over all probes, by memory level, question kind and scenario.

Intervals are over trajectories. capacity.py computes accuracy as a function of the number of tokens.
"""

from collections.abc import Sequence

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.kinds import LEVELS, column, find_kind
from memflow.benchmarks.membench.turns import scenario_of
from memflow.records import Probe, Score
from memflow.scoring.estimate import MetricContext, choice_values, probe_score, valid_probes


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant: accuracy, chance and unparsed replies for every slice."""
    context, values = MetricContext.from_results(domain, results), choice_values(results)
    return [
        probe_score(context, metric, probes, by_probe, slice_name=name)
        for name, probes in probe_slices(valid_probes(results)).items()
        for metric, by_probe in values.items()
    ]


def probe_slices(probes: Sequence[Probe]) -> dict[str, list[Probe]]:
    """Return the probe ids of every slice. Slices are `all`, and for example `level factual` and `category simple`.

    Reflective questions are also in the columns of the paper's table 10: `category emotion`, `category preference`.
    """
    found: dict[str, list[Probe]] = {"all": list(probes)}
    for level in LEVELS:
        found[f"level {level}"] = [each for each in probes if find_kind(each.category or "").level == level]
    for probe in probes:
        scenario = scenario_of(probe.episode_id)
        for category in dict.fromkeys((probe.category, column(find_kind(probe.category or ""), scenario))):
            found.setdefault(f"category {category}", []).append(probe)
        found.setdefault(f"scenario {scenario}", []).append(probe)
    return {name: each for name, each in found.items() if each}
