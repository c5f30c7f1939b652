"""The gate: whether a run is worse than a baseline, as a decision per metric and slice and as an exit code.

A regression is a difference whose 95 % interval is on the worse side of 0 and whose adjusted p value is below 5 %. No
regression means that a loss of the margin is excluded. Everything else is left open. The tests are those of
comparison.py; p values over all probes are adjusted by Holm's method over the metrics, those of slices by max-T over
all slices of all metrics. bench/gate.py measures how often the decisions are wrong.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memflow.metrics.intervals import student_t
from memflow.metrics.multiple_tests import max_t
from memflow.metrics.paired import LEVEL, MINIMUM, Array, cannot_be_significant
from memflow.records import Comparison
from memflow.scoring.catalog import find_metric
from memflow.scoring.comparison import adjust
from memflow.scoring.comparisons import DomainContext, compare
from memflow.scoring.decisions import (
    CANNOT_TELL,
    NO_REGRESSION,
    REGRESSION,
    WHOLE,
    GateDecision,
    GateOptions,
    GateResult,
)
from memflow.scoring.estimate import MIN_COVERAGE
from memflow.scoring.measures import MeanMeasure, Measure

CORRELATION = 0.1
"""The correlation within episodes that a loss of the margin is assumed to have at least. Without it, few episodes in
which nothing was lost would pass: bench/gate.py measures a rare loss."""
SMALL = 20
"""Below this number of episodes an interval that reaches below 0 excludes no loss. The intervals of fewer episodes are
too narrow where changes are concentrated in some of them: bench/gate.py measures it."""
RUN = 0
"""The position of the evaluated run in `MeanMeasure.values`; the baseline has another one."""


class _Column(NamedTuple):
    """The paired differences of one metric, variant and slice, and the episode index of each difference."""

    differences: Array
    episodes: npt.NDArray[np.int64]


def _paired_columns(
    measures: Sequence[MeanMeasure], baseline: int
) -> tuple[dict[tuple[str, str, str], _Column], int]:
    """Return the paired differences (run - baseline) by (metric, variant, slice), and the number of episodes."""
    episode_indexes: dict[str, int] = {}
    columns = {}
    for measure in measures:
        episodes = np.array(
            [episode_indexes.setdefault(name, len(episode_indexes)) for name in measure.episodes],
            dtype=np.int64,
        )
        differences = measure.values[RUN] - measure.values[baseline]
        for slice_name, mask in measure.slices.items():
            is_paired = mask & np.isfinite(differences)
            columns[measure.metric, measure.variant, slice_name] = _Column(
                differences[is_paired], episodes[is_paired]
            )
    return columns, len(episode_indexes)


def gate(
    context: DomainContext, measures: Sequence[Measure], options: GateOptions, baseline: int = 1
) -> GateResult:
    """Return the decisions under each measure. The run has the position 0, the other assistant that of `baseline`."""
    comparisons = compare(context, measures, [(RUN, baseline)], options.slices != {WHOLE})
    rows = [row for row in comparisons if options.chosen(row.slice)]
    columns, n_episodes = _paired_columns(
        [measure for measure in measures if isinstance(measure, MeanMeasure)], baseline
    )

    def unchanged(row: Comparison) -> bool:
        column = columns.get((row.metric, row.variant, row.slice))
        return column is not None and not column.differences.any()

    rows = [_with_interval(row, columns) for row in _adjust_rows(rows, columns, n_episodes, context.seed)]
    rows += _unmeasured(context, measures, rows, options, baseline)
    required_metrics = _required_metrics(measures, options, baseline)
    return GateResult(
        [
            decide(
                row,
                options,
                same=options.identical and unchanged(row),
                required=options.required(row.slice) and row.metric in required_metrics,
            )
            for row in rows
        ],
        families(rows),
    )


def _required_metrics(measures: Sequence[Measure], options: GateOptions, baseline: int) -> set[str]:
    """Return the named metrics; without any, those with values in enough episodes, or all if there are none."""
    all_metrics = {measure.metric for measure in measures}
    if options.metrics or options.slices:
        return all_metrics
    measurable_metrics = set()
    for measure in measures:
        if isinstance(measure, MeanMeasure):
            has_value = np.asarray(np.isfinite(measure.values[[RUN, baseline]]).any(axis=0))
            episodes = {name for name, is_known in zip(measure.episodes, has_value, strict=True) if is_known}
            if len(episodes) >= MINIMUM:
                measurable_metrics.add(measure.metric)
    return measurable_metrics or all_metrics


def _with_interval(row: Comparison, columns: Mapping[tuple[str, str, str], _Column]) -> Comparison:
    """Return a comparison with an interval where a difference of means does not vary between enough episodes.

    Such an interval is the difference itself. A regression also needs a small p value, and no regression also needs
    `margin_error`, which assumes a variance.
    """
    is_mean = (row.metric, row.variant, row.slice) in columns
    if is_mean and row.low is None and row.difference is not None and row.n_episodes >= MINIMUM:
        return replace(row, low=row.difference, high=row.difference)
    return row


def _unmeasured(
    context: DomainContext,
    measures: Sequence[Measure],
    rows: Sequence[Comparison],
    options: GateOptions,
    baseline: int,
) -> Iterator[Comparison]:
    """Yield a comparison without a difference for each required slice of a metric that no value is in."""
    required_slices = sorted(options.slices or {WHOLE})
    compared_slices = {(row.metric, row.variant, row.slice) for row in rows}
    for measure in measures:
        for slice_name in required_slices:
            if (measure.metric, measure.variant, slice_name) not in compared_slices:
                yield Comparison(
                    domain=context.domain,
                    metric=measure.metric,
                    variant=measure.variant,
                    slice=slice_name,
                    a=context.assistants[RUN],
                    b=context.assistants[baseline],
                    n=0,
                    n_episodes=0,
                    scripted=False,
                    reason="no probe of this slice has a value",
                )


def families(rows: Sequence[Comparison]) -> list[str]:
    """Return what p values are adjusted over, in words, and whether none of them can be significant."""
    tested_rows = [row for row in rows if row.p is not None]
    overall_count = sum(row.slice == WHOLE for row in tested_rows)
    slices = len(tested_rows) - overall_count
    texts = []
    if overall_count:
        texts.append(
            f"Family over all probes: {_count(overall_count, 'metric')}, p adjusted by Holm's method"
        )
    if slices:
        texts.append(
            f"Family of slices: {_count(slices, 'metric and slice', 'metrics and slices')}, by max-T"
        )
    episodes = max((row.n_episodes for row in tested_rows), default=0)
    # Max-T needs no more episodes for several slices.
    if tested_rows and (statement := cannot_be_significant(episodes, overall_count or 1)) is not None:
        texts.append(f"A regression {statement}")
    return texts


def _adjust_rows(
    rows: Sequence[Comparison], columns: Mapping[tuple[str, str, str], _Column], n_episodes: int, seed: int
) -> list[Comparison]:
    """Return the comparisons with p values adjusted for multiple comparisons.

    Holm's method adjusts the rows of the whole data, step-down max-T those of slices. `n_episodes` is the number of
    episodes; `seed` draws the sign flips. `p_adjusted` is None for a row without p.
    """
    overall_rows = [index for index, row in enumerate(rows) if row.slice == WHOLE]
    slice_rows = [index for index, row in enumerate(rows) if row.slice != WHOLE and row.p is not None]
    totals = np.zeros((n_episodes, len(slice_rows)))
    for column_index, index in enumerate(slice_rows):
        column = columns[rows[index].metric, rows[index].variant, rows[index].slice]
        totals[:, column_index] = np.bincount(column.episodes, column.differences, n_episodes)
    adjusted = dict(zip(overall_rows, adjust([rows[index].p for index in overall_rows]), strict=True))
    adjusted |= zip(slice_rows, map(float, max_t(totals, seed=seed)), strict=True)
    return [replace(row, p_adjusted=adjusted.get(index)) for index, row in enumerate(rows)]


def decide(
    row: Comparison, options: GateOptions, *, same: bool = False, required: bool = True
) -> GateDecision:
    """Return the decision on a comparison of the run (a) with the baseline (b).

    `same` states that all values are equal, and so is all that they depend on: nothing is left to chance.
    `required` states whether exit code 0 depends on it.
    """
    metric = find_metric(row.metric)
    span = metric.range[1] - metric.range[0] if metric.is_bounded else None
    gain = _gain(row)
    is_significant = row.p_adjusted is not None and row.p_adjusted < LEVEL
    if row.n_episodes >= MINIMUM and gain is not None and gain.high < 0 and is_significant:
        state, reason = REGRESSION, None
    else:
        reason = next(_open_reasons(row, options.margin, span, same), None)
        state = NO_REGRESSION if reason is None else CANNOT_TELL
    return GateDecision(
        metric=row.metric,
        variant=row.variant,
        slice=row.slice,
        required=required,
        state=state,
        value=row.value_a,
        baseline=row.value_b,
        difference=row.difference,
        low=row.low,
        high=row.high,
        margin=None if span is None else options.margin * span,
        p_adjusted=row.p_adjusted,
        n=row.n,
        n_episodes=row.n_episodes,
        missing=row.unpaired_a + row.unpaired_b,
        reason=reason,
    )


class _Gain(NamedTuple):
    """A difference and the ends of its interval in the metric's better direction."""

    value: float
    low: float
    high: float


def _gain(row: Comparison) -> _Gain | None:
    """Return the gain of the run over the baseline; None if the difference or its interval is missing."""
    if row.difference is None or row.low is None or row.high is None:
        return None
    sign = 1 if find_metric(row.metric).direction == "higher" else -1
    return _Gain(sign * row.difference, *sorted((sign * row.low, sign * row.high)))


def _open_reasons(row: Comparison, margin: float, span: float | None, same: bool) -> Iterator[str]:
    """Yield why a decision is left open, the most general reason first; nothing if there is no regression."""
    unpaired, gain = row.unpaired_a + row.unpaired_b, _gain(row)
    if row.difference is None:
        yield row.reason or "there is no difference"
    if row.n_episodes < MINIMUM:
        yield f"{_count(row.n_episodes, 'episode')}; a decision needs at least {MINIMUM}"
    if row.n < MIN_COVERAGE * (row.n + unpaired):
        yield (
            f"{unpaired:,} of {row.n + unpaired:,} probes have a value for only one of the two; a decision needs "
            f"{MIN_COVERAGE:.0%}"
        )
    if same:
        return
    if gain is None:
        yield row.reason or "the difference has no interval"
    elif span is None:
        if gain.low <= 0:
            yield "a loss is not excluded, and the metric has no range that a margin could be a share of"
    elif gain.low <= -margin * span:
        qualification = ", although the difference is not significant" if gain.high < 0 else ""
        yield f"a loss of {margin * span:.3g} is not excluded{qualification}"
    elif gain.low < 0 and row.n_episodes < SMALL:
        yield f"with fewer than {SMALL} episodes, only an interval above 0 excludes a loss"
    elif gain.value - span * margin_error(margin, row.n, row.n_episodes) <= -margin * span:
        sample_size = f"{_count(row.n, 'probe')} in {_count(row.n_episodes, 'episode')}"
        yield f"{sample_size} are too few to exclude a rare loss of {margin * span:.3g}"


def margin_error(margin: float, n: int, episodes: int) -> float:
    """Return how far a true loss of `margin` (a share) of all-or-nothing values can be missed by chance, at 2.5 %.

    The standard error is that of n losses with the probability `margin`, with the design effect of CORRELATION.
    """
    effect = 1 + max(0.0, n / episodes - 1) * CORRELATION
    return student_t(episodes - 1) * math.sqrt(margin * (1 - margin) * effect / n)


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
