"""Verdicts to figures: accuracy beside chance, over all, by level of memory, by kind of question and by scenario.

Intervals are bootstrapped over trajectories. A figure that rests on too few of the probes asked has no value, and says
why. How accuracy falls with what is held is capacity.py.
"""

from collections.abc import Sequence

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.kinds import LEVELS, column, find_kind
from memflow.benchmarks.membench.turns import scenario_of
from memflow.records import Probe, Score
from memflow.scoring.estimate import MetricContext, mean_score, valid_probes, values_by_metric


def make_scores(domain: Domain, measured: AssistantResults) -> list[Score]:
    """The figures of one assistant: accuracy, chance, and answers that could not be read, for every slice."""
    return [
        mean_score(MetricContext(domain, measured), metric, name, asked, held)
        for name, asked in slices(valid_probes(measured)).items()
        for metric, held in values_by_metric(measured).items()
    ]


def slices(probes: Sequence[Probe]) -> dict[str, list[Probe]]:
    """The probes of every slice, by its name: `all`, `level factual`, `category simple`, `scenario roles`.

    What is reflective is told apart as in the paper's table 10 besides: `category emotion`, `category preference`.
    """
    found: dict[str, list[Probe]] = {"all": list(probes)}
    for level in LEVELS:
        found[f"level {level}"] = [one for one in probes if find_kind(one.category or "").level == level]
    for probe in probes:
        scenario = scenario_of(probe.episode_id)
        for category in dict.fromkeys((probe.category, column(find_kind(probe.category or ""), scenario))):
            found.setdefault(f"category {category}", []).append(probe)
        found.setdefault(f"scenario {scenario}", []).append(probe)
    return {name: held for name, held in found.items() if held}


def levels(probes: Sequence[Probe]) -> dict[str, frozenset[str]]:
    """The ids of the probes of each level of memory that is asked for: `level factual`, `level reflective`."""
    by_level = {
        level: frozenset(one.probe_id for one in probes if find_kind(one.category or "").level == level)
        for level in LEVELS
    }
    return {f"level {level}": held for level, held in by_level.items() if held}
