"""What is compared in a domain: for each metric, the values of every assistant by item, and the slices of the items.

An item is a probe or a question over its checkpoints. A `MeanMeasure` is a mean over items; an `AggregateMeasure` is
any other score of sums over episodes. Benchmarks return their measures (`Benchmark.measures`); comparisons.py compares
the assistants under each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memflow.metrics.continual import mark_answers
from memflow.records import Probe
from memflow.scoring.catalog import find_metric

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Slices = Mapping[str, frozenset[str]]
STANDARD = "standard"


@dataclass(frozen=True)
class VerdictValues:
    """The verdicts of all assistants on the valid test probes of a domain, as arrays.

    `values` has an array of shape (assistants, probes) by metric, with NaN for a missing value. `oracles` has the
    position of each assistant's upper bound: the memory `oracle` with the same model; None if it was not run.
    """

    probes: Sequence[Probe]
    assistants: Sequence[str]
    models: Sequence[str]
    oracles: Sequence[int | None]
    values: Mapping[str, Array]

    @property
    def episodes(self) -> list[str]:
        """The episode of each probe."""
        return [probe.episode_id for probe in self.probes]

    def masks(self, slices: Slices) -> dict[str, Mask]:
        """Return, by slice, an array that is True for each of `probes`, in order, that belongs to it."""
        return {
            name: np.array([probe.probe_id in members for probe in self.probes], dtype=np.bool_)
            for name, members in slices.items()
        }


@dataclass(frozen=True)
class MeanMeasure:
    """A metric that is the mean of its values over items. `values` has shape (assistants, items), NaN where missing.

    `episodes` has the episode of each item, `slices` a mask over the items by name.
    Only assistants in `members` (positions) are compared with each other; None stands for all.
    """

    metric: str
    variant: str
    episodes: Sequence[str]
    values: Array
    slices: Mapping[str, Mask]
    members: frozenset[int] | None = None


class PairedSums(NamedTuple):
    """The sums of two assistants over the items that both have: arrays of shape (episodes, parts)."""

    a: Array
    b: Array
    n: int
    unpaired_a: int
    unpaired_b: int


@dataclass(frozen=True)
class AggregateMeasure:
    """A score of sums over episodes that is no mean over items. It is compared over the slice `all` only.

    `pair` returns the sums of two assistants, given by their positions; `score` maps sums of shape (m, parts) to m
    values. `reasons` has the reason for each assistant that cannot be compared.
    """

    metric: str
    variant: str
    pair: Callable[[int, int], PairedSums]
    score: Callable[[Array], Array]
    reasons: Mapping[int, str]


Measure = MeanMeasure | AggregateMeasure


def is_compared(benchmark: str, metric: str) -> bool:
    """Return whether assistants are compared under a metric: a primary metric of the benchmark with a direction."""
    declaration = find_metric(metric)
    return benchmark in declaration.primary_for and declaration.direction != "neither"


def mean_measures(benchmark: str, values: VerdictValues, slices: Slices) -> Iterator[MeanMeasure]:
    """Yield a measure for each primary metric that verdicts have."""
    masks = values.masks(slices)
    for metric, array in values.values.items():
        if is_compared(benchmark, metric):
            yield MeanMeasure(metric, STANDARD, values.episodes, array, masks)


def change_measures(values: VerdictValues, metric: str, names: Iterable[str]) -> Iterator[MeanMeasure]:
    """Yield forgetting and `all_correct`, whose items are questions, for values of `metric` from 0 to 1.

    Only histories that begin with a probe that `opens` are measured. A question has a value if all its probes have one.
    Forgetting is that of the last checkpoint.
    """
    probes = values.probes
    positions_by_question: dict[str, list[int]] = {}
    for position, probe in enumerate(probes):
        if probe.question_id is not None:
            positions_by_question.setdefault(probe.question_id, []).append(position)
    checkpoints = {probe.checkpoint for probe in probes if probe.question_id is not None}
    histories = [
        sorted(positions, key=lambda position: probes[position].checkpoint)
        for positions in positions_by_question.values()
        if len(positions) == len(checkpoints) and any(probes[position].opens for position in positions)
    ]
    array = values.values.get(metric)
    if array is None or not histories or len(checkpoints) < 2:
        return
    answers = array[:, np.array(histories)]  # shape: assistants, questions, checkpoints
    is_complete = np.asarray(np.isfinite(answers).all(axis=2))
    episodes = [probes[history[0]].episode_id for history in histories]
    everything = {"all": np.ones(len(histories), dtype=np.bool_)}
    for name in names:
        items = np.full(is_complete.shape, np.nan)
        for assistant, complete in enumerate(is_complete):
            if complete.any():
                marks = mark_answers(answers[assistant, complete])
                items[assistant, complete] = marks.forgotten[:, -1] if name == "forgetting" else marks.always
        yield MeanMeasure(name, STANDARD, episodes, items, everything)
