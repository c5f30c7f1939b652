"""The noise of scores: their standard deviation between repeats of an evaluation, beside scores and differences.

A score and its comparisons are those of the first evaluation; its repeats tell how much of them is chance.
memflow/metrics/chi_square.py has the statistics.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import NamedTuple

from memflow.metrics.chi_square import Deviation, pooled_deviation
from memflow.metrics.intervals import student_t
from memflow.records import Comparison, Score
from memflow.repeats import Kind, repeat_in

Key = tuple[str, str, str, str, str]
PREFERRED = (Kind.run, Kind.answers, Kind.judge)
"""The kinds of repeats, those first that repeat more: the noise of a score is that of the first kind that it has."""


def with_noise(scores: Iterable[Score], repeated: Iterable[Score]) -> list[Score]:
    """Return the scores with the mean and the standard deviation over their repeats, which are `repeated`.

    The deviation is pooled over the assistants of a domain under a metric, variant and slice, whose repeats are of one
    kind: few repeats of one assistant tell little. A score without a value in every repeat of its kind has no noise.
    """
    values: dict[Key, dict[str, list[float | None]]] = {}
    for score in repeated:
        assistant, kind, _ = repeat_in(score.assistant)
        values.setdefault(_key(score, assistant), {}).setdefault(kind, []).append(score.value)
    scores = list(scores)
    samples = [_sample(score, values.get(_key(score, score.assistant), {})) for score in scores]
    groups: dict[tuple[str, ...], list[Sequence[float]]] = {}
    for score, sample in zip(scores, samples, strict=True):
        groups.setdefault((*_group(score), sample.kind), []).append(sample.values)
    deviations = {group: pooled_deviation(values_of_group) for group, values_of_group in groups.items()}
    return [
        _with_noise(score, sample, deviations[(*_group(score), sample.kind)])
        for score, sample in zip(scores, samples, strict=True)
    ]


class _Sample(NamedTuple):
    """The values of a score in all evaluations of a kind of repeat; empty without repeats."""

    kind: str = ""
    values: Sequence[float] = ()


def _sample(score: Score, by_kind: Mapping[str, list[float | None]]) -> _Sample:
    """Return the value of a score and of its repeats of the first kind in PREFERRED; empty if a value is missing."""
    kind = next((kind for kind in PREFERRED if kind in by_kind), None)
    values = [] if kind is None else [score.value, *by_kind[kind]]
    known_values = [value for value in values if value is not None]
    return _Sample() if kind is None or len(known_values) < len(values) else _Sample(kind.value, known_values)


def _with_noise(score: Score, sample: _Sample, noise: Deviation | None) -> Score:
    """Return a score with the values of its repeats and their noise; the score itself without either."""
    if noise is None or not sample.values:
        return score
    return replace(
        score,
        repeats=len(sample.values),
        repeats_of=sample.kind,
        repeat_mean=fmean(sample.values),
        repeat_deviation=stdev(sample.values),
        noise=noise.value,
        noise_low=noise.low,
        noise_high=noise.high,
        noise_degrees=int(noise.degrees),
    )


def with_difference_noise(comparisons: Iterable[Comparison], scores: Iterable[Score]) -> list[Comparison]:
    """Return the comparisons with the standard deviation of their differences between repeats.

    A difference is within noise if Student's t, on the noise alone, leaves 0 in its 95 % interval. Two assistants whose
    repeats are of different kinds have none.
    """
    noisy = {_key(score, score.assistant): score for score in scores if score.noise is not None}
    return [_with_difference_noise(row, noisy) if noisy else row for row in comparisons]


def _with_difference_noise(row: Comparison, noisy: Mapping[Key, Score]) -> Comparison:
    """Return a comparison with the noise of its difference: the root of the summed variances of both scores."""
    a, b = (noisy.get((row.domain, row.metric, row.variant, row.slice, name)) for name in (row.a, row.b))
    if a is None or b is None or a.repeats_of != b.repeats_of or row.difference is None:
        return row
    noise = math.hypot(a.noise or 0.0, b.noise or 0.0)
    limit = student_t(a.noise_degrees or 1) * noise
    return replace(
        row,
        noise=noise,
        noise_low=math.hypot(a.noise_low or 0.0, b.noise_low or 0.0),
        noise_high=math.hypot(a.noise_high or 0.0, b.noise_high or 0.0),
        within_noise=abs(row.difference) <= limit,
    )


def _group(score: Score) -> tuple[str, str, str, str]:
    return score.domain, score.metric, score.variant, score.slice


def _key(score: Score, assistant: str) -> Key:
    return (*_group(score), assistant)
