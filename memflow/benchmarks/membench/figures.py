"""Verdicts to figures: accuracy beside chance, over all, by level of memory, by kind of question and by scenario.

Intervals are bootstrapped over trajectories. A figure that rests on too few of the probes asked has no value, and says
why. How accuracy falls with what is held is capacity.py.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memflow.benchmarks.benchmark import Measured
from memflow.benchmarks.membench.kinds import LEVELS, column, kind
from memflow.benchmarks.membench.scores import UNPARSED
from memflow.benchmarks.membench.trajectories import scenario_of
from memflow.domains import Domain
from memflow.metrics.intervals import Interval, mean_interval
from memflow.records import Figure, Probe

MIN_COVERAGE = 0.9
"""Share of the probes asked that need a verdict for a figure to be shown."""


def make_figures(domain: Domain, measured: Measured) -> list[Figure]:
    """The figures of one assistant: accuracy, chance, and answers that could not be read, for every slice."""
    return [
        figure_of(Figured(domain, measured), metric, name, asked, held)
        for name, asked in slices(asked_of(measured)).items()
        for metric, held in values_of(measured).items()
    ]


def asked_of(measured: Measured) -> list[Probe]:
    """The probes that were to be asked: one that is quarantined counts in no coverage."""
    return [probe for probe in measured.probes if probe.reason is None]


def values_of(measured: Measured) -> dict[str, dict[str, float]]:
    """By metric, the value of each probe that has one, by its id: `random` is what guessing comes to."""
    values = {
        metric: {
            row.probe_id: row.value
            for row in measured.verdicts
            if row.metric == metric and row.value is not None
        }
        for metric in ("accuracy", UNPARSED)
    }
    values["random"] = {
        probe.probe_id: 1 / len(probe.options) for probe in asked_of(measured) if probe.options
    }
    return values


def slices(probes: Sequence[Probe]) -> dict[str, list[Probe]]:
    """The probes of every slice, by its name: `all`, `level factual`, `category simple`, `scenario roles`.

    What is reflective is told apart as in the paper's table 10 besides: `category emotion`, `category preference`.
    """
    found: dict[str, list[Probe]] = {"all": list(probes)}
    for level in LEVELS:
        found[f"level {level}"] = [one for one in probes if kind(one.category or "").level == level]
    for probe in probes:
        scenario = scenario_of(probe.episode_id)
        for category in dict.fromkeys((probe.category, column(kind(probe.category or ""), scenario))):
            found.setdefault(f"category {category}", []).append(probe)
        found.setdefault(f"scenario {scenario}", []).append(probe)
    return {name: held for name, held in found.items() if held}


def levels(probes: Sequence[Probe]) -> dict[str, frozenset[str]]:
    """The ids of the probes of each level of memory that is asked for: `level factual`, `level reflective`."""
    by_level = {
        level: frozenset(one.probe_id for one in probes if kind(one.category or "").level == level)
        for level in LEVELS
    }
    return {f"level {level}": held for level, held in by_level.items() if held}


@dataclass(frozen=True)
class Figured:
    """Of whom a figure is."""

    domain: Domain
    measured: Measured


def figure_of(
    of: Figured, metric: str, name: str, asked: Sequence[Probe], values: Mapping[str, float]
) -> Figure:
    """The mean of `values` over the probes asked, with its interval over trajectories."""
    scored = [probe for probe in asked if probe.probe_id in values]
    by_episode = _grouped((probe.episode_id, values[probe.probe_id]) for probe in scored)
    coverage = len(scored) / len(asked) if asked else 0.0
    reason = None
    if coverage < MIN_COVERAGE:
        share = f"{len(scored)} of {len(asked)} probes have a verdict; a figure needs {MIN_COVERAGE:.0%}"
        reason = f"{share}. See their reasons in score.verdicts"
    interval = Interval(None, None, None)
    if reason is None:
        sums, counts = [sum(held) for held in by_episode], [len(held) for held in by_episode]
        interval = mean_interval(sums, counts, seed=of.domain.seed)
    measured = of.measured
    return Figure(
        domain=measured.domain,
        assistant=measured.assistant,
        memory=measured.memory,
        model=measured.model,
        metric=metric,
        slice=name,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        n=len(scored),
        n_episodes=len(by_episode),
        coverage=coverage,
        simulator=measured.simulator,
        scripted=measured.scripted,
        reason=reason,
    )


def _grouped(values: Iterable[tuple[str, float]]) -> list[list[float]]:
    found: dict[str, list[float]] = {}
    for episode, value in values:
        found.setdefault(episode, []).append(value)
    return list(found.values())
