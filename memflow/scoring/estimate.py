"""Computation of a score from values: minimum coverage, confidence interval, and the columns of the score's row.

metric.py declares metrics. Each benchmark's scoring.py selects its probes and slices.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.domain_names import DomainName
from memflow.benchmarks.domains import Domain
from memflow.metrics.intervals import Interval, Units
from memflow.records import Probe, Score, Verdict
from memflow.scoring.catalog import find_metric
from memflow.scoring.intervals import metric_interval
from memflow.scoring.metric import Metric
from memflow.scoring.results import AssistantResults

MIN_COVERAGE = 0.9
"""Share of the items asked for a value that must have one for a score to be shown."""
NO_VALUE = Interval(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricContext:
    """The assistant and domain that a score is computed for. `seed` is the domain's, for resampling."""

    domain: str
    assistant: str
    memory: str
    model: str
    simulator: str
    scripted: bool
    seed: int = 0
    independent: frozenset[str] = frozenset()
    """The episodes whose questions are independent (`Benchmark.independent_episodes`)."""

    @property
    def base(self) -> str:
        """The domain without the limit of a sample. Seeds are derived from it."""
        return DomainName.parse(self.domain).base

    @classmethod
    def from_results(cls, domain: Domain, results: AssistantResults) -> "MetricContext":
        """Return the context of one assistant's results."""
        return cls(
            domain=results.domain,
            assistant=results.assistant,
            memory=results.memory,
            model=results.model,
            simulator=results.simulator,
            scripted=results.scripted,
            seed=domain.seed,
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample of a score: the numbers of items that need a value (`asked`) and have one (`n`), and of episodes."""

    asked: int
    n: int
    episodes: int

    @property
    def coverage(self) -> float:
        """The share of items with a value among the items that need one; 0 if no item needs a value."""
        return self.n / self.asked if self.asked else 0.0

    def shortage(self, items: str) -> str | None:
        """Return the reason why a score has no value if the coverage is too low; otherwise None."""
        if self.coverage >= MIN_COVERAGE:
            return None
        return f"{self.n} of {self.asked} {items} have a value; a score needs {MIN_COVERAGE:.0%}"


def estimate(
    context: MetricContext,
    metric: str,
    sample: Sample,
    interval: Callable[[], Interval],
    *,
    slice_name: str = "all",
    variant: str = "standard",
    reason: str | None = None,
    items: str = "probes",
    undefined: str | None = None,
    deviation: float | None = None,
) -> Score:
    """Return the row of a score with its value and interval, or with a reason instead of a value.

    A score has no value in three cases: `reason` is given, too few of the `items` have a value, or `interval` returns
    no value (then the reason is `undefined`). `interval` is called only if the coverage suffices.
    """
    reason = reason or sample.shortage(items)
    interval_columns = NO_VALUE if reason is not None else interval()
    if reason is None and interval_columns.value is None:
        reason = undefined
    return Score(
        domain=context.domain,
        assistant=context.assistant,
        memory=context.memory,
        model=context.model,
        metric=metric,
        variant=variant,
        slice=slice_name,
        value=interval_columns.value,
        low=interval_columns.low,
        high=interval_columns.high,
        interval_reason=interval_columns.reason,
        interval_units=None if interval_columns.low is None else interval_columns.units,
        deviation=None if interval_columns.value is None else deviation,
        n=sample.n,
        planned=sample.asked,
        n_episodes=sample.episodes,
        coverage=sample.coverage,
        simulator=context.simulator,
        scripted=context.scripted,
        reason=reason,
    )


def mean_score(
    context: MetricContext,
    metric: str,
    sums: Sequence[tuple[float, int]],
    asked: int,
    *,
    variant: str = "standard",
    **options: Any,
) -> Score:
    """Return the score sum / count over all episodes, with its interval; `sums` has one pair per episode.

    `options` are arguments of `estimate`.
    """
    totals, counts = [total for total, _ in sums], [count for _, count in sums]
    return estimate(
        context,
        metric,
        Sample(asked, sum(counts), len(sums)),
        lambda: metric_interval(find_metric(metric), variant, Units.of_episodes(totals, counts)),
        variant=variant,
        **options,
    )


def value_score(
    context: MetricContext,
    metric: str,
    values: Iterable[tuple[str, float]],
    asked: int,
    *,
    variant: str = "standard",
    declared: Metric | None = None,
    **options: Any,
) -> Score:
    """Return the mean of the values, given (episode, value) pairs, with its interval over episodes.

    In the episodes in `context.independent`, each value is a unit of its own. `declared` is the metric where the
    catalog lacks it. `options` are arguments of `estimate`.
    """
    episodes = by_episode(values)
    return estimate(
        context,
        metric,
        Sample(asked, sum(map(len, episodes.values())), len(episodes)),
        lambda: value_interval(declared or find_metric(metric), variant, episodes, context.independent),
        variant=variant,
        **options,
    )


def value_interval(
    metric: Metric, variant: str, episodes: Mapping[str, Sequence[float]], independent: Collection[str]
) -> Interval:
    """Return the mean of the values, given by episode, with its interval; in `independent` ones each is a unit."""
    sums = (
        (sum(values), len(values), sum(value * value for value in values) if name in independent else None)
        for name, values in episodes.items()
    )
    return metric_interval(metric, variant, Units.of_sums(sums))


def probe_score(
    context: MetricContext, metric: str, asked: Iterable[Probe], values: Mapping[str, float], **options: Any
) -> Score:
    """Return the score of the probes `asked`: the mean of their values in `values`, by probe id.

    Probes without a value lower the coverage.
    """
    probes = list(asked)
    pairs = [(probe.episode_id, values[probe.probe_id]) for probe in probes if probe.probe_id in values]
    return value_score(context, metric, pairs, len(probes), **options)


def values_by_metric(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], dict[str, float | None]]:
    """Return the values of verdicts by (metric, variant), then by probe id; None for a verdict without a value."""
    values: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in verdicts:
        values.setdefault((row.metric, row.variant), {})[row.probe_id] = row.value
    return values


def slice_scores(
    context: MetricContext,
    values: Mapping[tuple[str, str], Mapping[str, float | None]],
    slices: Mapping[str, Sequence[Probe]],
) -> list[Score]:
    """Return the score of each metric and variant over the probes of each slice that have a verdict of it."""
    return [
        probe_score(context, metric, members, known_values(by_probe), variant=variant, slice_name=name)
        for name, probes in slices.items()
        for (metric, variant), by_probe in values.items()
        if (members := [probe for probe in probes if probe.probe_id in by_probe])
    ]


def known_values(values: Mapping[str, float | None]) -> dict[str, float]:
    """Return the values that are not None, by probe id."""
    return {probe_id: value for probe_id, value in values.items() if value is not None}


def sums_by_episode(values: Iterable[tuple[str, float]]) -> list[tuple[float, int]]:
    """Return (sum, number) of the values of each episode, in order of occurrence, given (episode, value) pairs."""
    return [
        (sum(values_of_episode), len(values_of_episode)) for values_of_episode in by_episode(values).values()
    ]


def by_episode(values: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """Return the values of each episode as lists, given (episode, value) pairs."""
    episodes: dict[str, list[float]] = {}
    for episode, value in values:
        episodes.setdefault(episode, []).append(value)
    return episodes


def change_slices(probes: Iterable[Probe]) -> dict[str, list[Probe]]:
    """Return the probes by `gold changed` and `gold unchanged` (before the probe); empty unless both exist."""
    slices: dict[str, list[Probe]] = {"gold changed": [], "gold unchanged": []}
    for probe in probes:
        if probe.previous is not None:
            slices["gold unchanged" if probe.previous == probe.revealed else "gold changed"].append(probe)
    return slices if all(slices.values()) else {}


def valid_probes(results: AssistantResults) -> list[Probe]:
    """Return the probes that are not quarantined; quarantined probes do not count in any coverage."""
    return [probe for probe in results.probes if probe.reason is None]


def verdict_values(results: AssistantResults, metric: str) -> dict[str, float]:
    """Return the values of a metric by probe id, without probes that have no value."""
    return {
        row.probe_id: row.value for row in results.verdicts if row.metric == metric and row.value is not None
    }


def chance_values(probes: Iterable[Probe]) -> dict[str, float]:
    """Return the accuracy of random guessing by probe id: 1 / number of options, for probes with options."""
    return {probe.probe_id: 1 / len(probe.options) for probe in probes if probe.options}


def previous_state_values(probes: Iterable[Probe]) -> dict[str, float]:
    """Return 1 by probe id if the gold never changed, else 0, for the probes that have `previous`."""
    return {
        probe.probe_id: float(probe.previous == probe.revealed)
        for probe in probes
        if probe.previous is not None
    }


def choice_values(results: AssistantResults) -> dict[str, dict[str, float]]:
    """Return a multiple-choice benchmark's values by metric (accuracy, unparsed, random), then by probe id."""
    values = {metric: verdict_values(results, metric) for metric in ("accuracy", "unparsed")}
    return {**values, "random": chance_values(valid_probes(results))}
