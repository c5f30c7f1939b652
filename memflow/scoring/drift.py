"""Drift: how scores changed after a model, prompt, parameter or code changed, and at which stage the change arose.

The stages are users, answers and judging (stages.py). Their parts are effects of replacing one stage after another: the
score with the new users, and the former replies and verdicts wherever these users did not change; then with the new
replies; then with the new verdicts. The last is the score after the change, so the parts sum to the difference.
drift_summary.py describes the rows in words.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memflow.metrics.intervals import no_interval
from memflow.metrics.paired import LEVEL, aggregate_difference, mean_differences, smallest_p
from memflow.metrics.two_samples import compare_samples, smallest_division_p
from memflow.records import Drift, Probe
from memflow.scoring.catalog import find_metric
from memflow.scoring.comparison import adjust
from memflow.scoring.measures import MeanMeasure
from memflow.scoring.published_health import NOT_MEASURED
from memflow.scoring.stages import STAGES, EvaluationRows, Stage, first_stages, stages_of_metric

INPUTS = "inputs"
"""The metadata key of the inputs of an evaluation, stored with its verdicts as a JSON object."""
Values = Mapping[str, float | None]
"""Values by probe id; None for a verdict without a value."""
NO_VALUE = "no probe has a value {when} the change"


@dataclass(frozen=True)
class MetricValues:
    """The values of one assistant under a metric, and the episode, by probe id. `slices` are sets of probe ids."""

    values: Values
    episodes: Mapping[str, str]
    slices: Mapping[str, frozenset[str]]

    @classmethod
    def from_measure(cls, measure: MeanMeasure, probes: Sequence[Probe]) -> "MetricValues":
        """Return the values of the only assistant of a measure whose items are `probes`."""
        ids = [probe.probe_id for probe in probes]
        values = (None if math.isnan(value) else float(value) for value in measure.values[0])
        return cls(
            dict(zip(ids, values, strict=True)),
            dict(zip(ids, measure.episodes, strict=True)),
            {
                name: frozenset(probe_id for probe_id, in_slice in zip(ids, mask, strict=True) if in_slice)
                for name, mask in measure.slices.items()
            },
        )

    def in_slice(self, name: str, scored: Collection[str]) -> dict[str, float | None]:
        """Return the values by probe id of the probes of a slice that are in `scored`; None without a value."""
        members = self.slices.get(name, frozenset())
        return {probe: value for probe, value in self.values.items() if probe in members and probe in scored}


@dataclass(frozen=True)
class Evaluation:
    """One published evaluation of an assistant in a domain. `inputs` names what the rows depend on, such as `judge`.

    `metrics` has the values by (metric, variant); `published_at` is the time of the publication (UTC, ISO 8601).
    `fault` states why its memory is faulty, which leaves no values; None for any other.
    """

    rows: EvaluationRows
    inputs: Mapping[str, str]
    metrics: Mapping[tuple[str, str], MetricValues]
    published_at: str
    fault: str | None = None


def changed_inputs(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return one line per input that changed, such as `judge: small -> large`; a missing one is `none`."""
    return [
        f"{name}: {before.get(name, 'none')} -> {after.get(name, 'none')}"
        for name in dict.fromkeys((*after, *before))
        if before.get(name) != after.get(name)
    ]


def drift_rows(
    domain: str, assistant: str, before: Evaluation, after: Evaluation, *, seed: int = 0
) -> list[Drift]:
    """Return the drift of each metric that both evaluations have, by slice, without adjusted p values.

    Return no rows if no input changed: then a difference is noise of sampling, or a failed request that was repeated.
    """
    changes = changed_inputs(before.inputs, after.inputs)
    if not changes:
        return []
    first_stage_of_probe = first_stages(before.rows, after.rows)
    faults = [
        f"{NOT_MEASURED} {when} the change: {evaluation.fault}"
        for when, evaluation in (("before", before), ("after", after))
        if evaluation.fault is not None
    ]
    drifts = []
    for (metric, variant), values_after in after.metrics.items():
        values_before = before.metrics.get((metric, variant))
        if values_before is None:
            continue
        episodes = {**values_before.episodes, **values_after.episodes}
        shared_probes = values_before.values.keys() & values_after.values.keys()
        changed_probes = [
            probe for probe in shared_probes if values_before.values[probe] != values_after.values[probe]
        ]
        stages = stages_of_metric(metric, first_stage_of_probe, episodes, changed_probes)
        scored_probes = {
            probe
            for metric_values in (values_before, values_after)
            for probe, value in metric_values.values.items()
            if value is not None
        }
        for name in dict.fromkeys((*values_after.slices, *values_before.slices)):
            change = ScoreChange(
                values_before.in_slice(name, scored_probes),
                values_after.in_slice(name, scored_probes),
                stages,
                episodes,
                seed,
            )
            if change.before or change.after:
                row = change.row(domain, assistant, metric, variant, name)
                drifts.append(
                    replace(
                        row,
                        changes=changes,
                        before_at=before.published_at,
                        published_at=after.published_at,
                        reason="; ".join(faults) or row.reason,
                    )
                )
    return drifts


@dataclass(frozen=True)
class ScoreChange:
    """The values of one score before and after a change. `stages` has the first stage of each probe that differs."""

    before: Values
    after: Values
    stages: Mapping[str, Stage]
    episodes: Mapping[str, str]
    seed: int = 0

    def parts(self) -> dict[Stage, float]:
        """Return the part of the difference that each stage causes; their sum is the difference.

        A stage after whose replacement no probe has a value causes nothing; its effect counts for the next stage.
        Raises ValueError without a value before or after the change.
        """
        # The values before the change are replaced by those after it, one stage at a time. What a replacement moves the
        # mean by is the part of its stage.
        mean = _mean(self.before)
        parts: dict[Stage, float] = {}
        for position, stage in enumerate(STAGES):
            replaced_stages = STAGES[: position + 1]
            values = dict(self.after)
            if stage != STAGES[-1]:
                for probe in self.before.keys() & self.after.keys():
                    if self.stages.get(probe) not in replaced_stages:
                        values[probe] = self.before[probe]
            has_values = any(value is not None for value in values.values())
            next_mean = _mean(values) if has_values else mean
            parts[stage] = next_mean - mean
            mean = next_mean
        return parts

    @property
    def is_paired(self) -> bool:
        """Whether both scores are over the same probes of unchanged users."""
        return self.before.keys() == self.after.keys() and not any(
            self.stages.get(probe) == "users" for probe in self.after
        )

    def row(self, domain: str, assistant: str, metric: str, variant: str, name: str) -> Drift:
        """Return the row of the score; times, inputs and the adjusted p value are added later."""
        old_sums, new_sums = _sums(self.before, self.episodes), _sums(self.after, self.episodes)
        counts = {stage: sum(self.stages.get(probe) == stage for probe in self.after) for stage in STAGES}
        counts["users"] += len(self.before.keys() - self.after.keys())
        row = Drift(
            domain=domain, assistant=assistant, published_at="", before_at="", metric=metric, variant=variant,
            slice=name, before=None if not old_sums else _mean(self.before),
            after=None if not new_sums else _mean(self.after), paired=self.is_paired,
            n_before=_count(self.before), n_after=_count(self.after),
            episodes_before=len(old_sums), episodes_after=len(new_sums),
            changed_users=counts["users"], changed_answers=counts["answers"],
            changed_judging=counts["judging"], changes=[],
        )  # fmt: skip
        if row.before is None or row.after is None:
            return replace(row, reason=NO_VALUE.format(when="before" if row.before is None else "after"))
        difference = row.after - row.before
        low, high, p = self._test(old_sums, new_sums)
        direction = find_metric(metric).direction
        parts = self.parts()
        return replace(
            row,
            difference=difference,
            low=low,
            high=high,
            p=p,
            reason=no_interval(min(len(old_sums), len(new_sums)), 0.0) if low is None else None,
            improved=None
            if direction == "neither" or not difference
            else (difference > 0) == (direction == "higher"),
            users=parts["users"],
            answers=parts["answers"],
            judging=parts["judging"],
        )

    def _test(
        self, old: Mapping[str, tuple[float, int]], new: Mapping[str, tuple[float, int]]
    ) -> tuple[float | None, float | None, float | None]:
        """Return (low, high, p) of the difference, given the sum and the number of the values by episode."""
        if not self.is_paired:
            a, b = (np.array([*sums.values()], dtype=np.float64) for sums in (old, new))
            return compare_samples(a, b, seed=self.seed)[1:]
        names = sorted(old.keys() | new.keys())
        a, b = (np.array([sums.get(name, (0.0, 0)) for name in names], dtype=float) for sums in (old, new))
        if (a[:, 1] == b[:, 1]).all():
            differences = mean_differences(b[:, :1] - a[:, :1], a[:, 1:], seed=self.seed)
        else:
            differences = aggregate_difference(b, a, lambda sums: sums[:, 0] / sums[:, 1], seed=self.seed)
        # All values may be in one episode, although another one has them before or after the change.
        if math.isnan(differences.error[0]):
            return None, None, None
        low, high = (
            float(limit[0]) if math.isfinite(limit[0]) else None
            for limit in (differences.low, differences.high)
        )
        return low, high, float(differences.p[0])


def adjust_drifts(rows: Sequence[Drift]) -> list[Drift]:
    """Return the rows with p values adjusted over all of them by Holm's method, and with `moved`.

    A score of which no value changed cannot be significant, so it is no test (Tarone, Biometrics 46, 1990).
    """
    ps = [row.p if row.changed_users or row.changed_answers or row.changed_judging else None for row in rows]
    family = sum(p is not None for p in ps)
    return [
        replace(
            row,
            family=family,
            can_be_significant=smallest_p_of(row) * max(1, family) <= LEVEL,
            p_adjusted=row.p if p is None else p,
            moved=p is not None and p <= LEVEL and bool(row.difference),
        )
        for row, p in zip(rows, adjust(ps), strict=True)
    ]


def smallest_p_of(row: Drift) -> float:
    """Return the smallest p value that the test of this row could have; 1 without a test."""
    if row.p is None:
        return 1.0
    before, after = row.episodes_before, row.episodes_after
    return smallest_p(max(before, after)) if row.paired else smallest_division_p(before, after)


def _mean(values: Values) -> float:
    numbers = [value for value in values.values() if value is not None]
    if not numbers:
        raise ValueError("no probe has a value. Compute `parts` only for scores with values.")
    return math.fsum(numbers) / len(numbers)


def _count(values: Values) -> int:
    return sum(value is not None for value in values.values())


def _sums(values: Values, episodes: Mapping[str, str]) -> dict[str, tuple[float, int]]:
    """Return (sum, number) of the values of each episode; an episode without a value is missing."""
    by_episode: dict[str, list[float]] = {}
    for probe, value in values.items():
        if value is not None:
            by_episode.setdefault(episodes[probe], []).append(value)
    return {episode: (math.fsum(numbers), len(numbers)) for episode, numbers in sorted(by_episode.items())}
