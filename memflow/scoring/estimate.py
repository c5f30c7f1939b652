"""Figures that are means over probes, for every benchmark whose verdicts are rows: what is asked, its values, the mean.

Intervals are bootstrapped over episodes. A figure that rests on too few of the probes asked has no value, and says why.
Which slices a benchmark tells apart is its own figures.py.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.verdicts import UNPARSED
from memflow.metrics.intervals import Interval, mean_interval
from memflow.records import Probe, Score

MIN_COVERAGE = 0.9
"""Share of the probes asked that need a verdict for a figure to be shown."""


def valid_probes(measured: AssistantResults) -> list[Probe]:
    """The probes that were to be asked: one that is quarantined counts in no coverage."""
    return [probe for probe in measured.probes if probe.reason is None]


def values_by_metric(measured: AssistantResults) -> dict[str, dict[str, float]]:
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
        probe.probe_id: 1 / len(probe.options) for probe in valid_probes(measured) if probe.options
    }
    return values


@dataclass(frozen=True)
class MetricContext:
    """Of whom a figure is."""

    domain: Domain
    measured: AssistantResults


def mean_score(
    of: MetricContext, metric: str, name: str, asked: Sequence[Probe], values: Mapping[str, float]
) -> Score:
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
    return Score(
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
