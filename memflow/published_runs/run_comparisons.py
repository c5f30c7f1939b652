"""Paired differences between published runs on the same questions, where benchmark, contract and judge are equal.

Compared are runs of one system, and runs with the same reader and answer prompt, so that only the memory differs. All
of one benchmark, contract, judge and selection of questions are one family of tests. Runs without labels are compared
by the F1 of their answers, within their system; runs with retrieved evidence also by its share.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from memflow.metrics.intervals import FEWEST
from memflow.published_runs.rescoring import NOT_STATED, WORD_F1, RescoredRun, Values
from memflow.scoring.comparison import PairedDifference, adjust, better, clip_interval
from memflow.scoring.comparisons import mean_pairs
from memflow.scoring.measures import MeanMeasure
from memflow.scoring.metric import Metric

OF_SYSTEMS = frozenset({"system", "anchor"})
"""The roles of runs that are compared; an oracle and a test of the judge are no systems."""


@dataclass(frozen=True)
class RunDifference:
    """The difference a - b of two runs in a metric, with the number of tests of its family and the better run."""

    a: RescoredRun
    b: RescoredRun
    metric: Metric
    difference: PairedDifference
    p_adjusted: float | None
    tests: int
    better: str | None

    @property
    def is_same_reader(self) -> bool:
        """Whether both runs have the same reader and answer prompt, so that only the memory differs."""
        return (self.a.reader, self.a.prompt) == (self.b.reader, self.b.prompt)


def compare_runs(runs: Iterable[RescoredRun]) -> list[list[RunDifference]]:
    """Return the differences of each family of comparisons that has any."""
    families: dict[tuple[str, ...], list[tuple[RescoredRun, Values]]] = {}
    for run in runs:
        if (
            run.role in OF_SYSTEMS
            and not run.is_selected
            and (values := run.main or run.values.get(WORD_F1.name))
        ):
            shared = run.group if run.main else (run.run.benchmark, WORD_F1.name, run.system)
            families.setdefault((*shared, run.selection), []).append((run, values))
    return [family for members in families.values() if (family := compare_values(members))]


def compare_values(members: Sequence[tuple[RescoredRun, Values]]) -> list[RunDifference]:
    """Return the differences between the related runs of a family, given their values of one metric."""
    runs, values = [run for run, _ in members], [of_run for _, of_run in members]
    pairs = [pair for pair in combinations(range(len(runs)), 2) if _is_compared(members, pair)]
    if not pairs:
        return []
    items = list(dict.fromkeys(name for of_run in values for name in of_run.by_question))
    clusters = {name: cluster for of_run in values for name, cluster in of_run.clusters.items()}
    measure = MeanMeasure(
        values[0].metric.name,
        "standard",
        [clusters[name] for name in items],
        np.array([[of_run.by_question.get(name, np.nan) for name in items] for of_run in values]),
        {"all": np.ones(len(items), dtype=np.bool_)},
    )
    rows = mean_pairs(measure, measure.slices["all"], pairs, 0)
    adjusted = adjust([rows[pair].p for pair in pairs])
    tests = sum(p is not None for p in adjusted)
    return [
        RunDifference(
            runs[pair[0]],
            runs[pair[1]],
            values[0].metric,
            clip_interval(rows[pair], 1.0),
            p,
            tests,
            better(rows[pair].difference, p, "higher"),
        )
        for pair, p in zip(pairs, adjusted, strict=True)
    ]


def _is_compared(members: Sequence[tuple[RescoredRun, Values]], pair: tuple[int, int]) -> bool:
    """Return whether two runs of a family are compared: related, and with enough conversations in common."""
    (a, values_a), (b, values_b) = (members[at] for at in pair)
    is_related = a.system == b.system or (
        (a.reader, a.prompt) == (b.reader, b.prompt) and not a.reader.startswith(NOT_STATED)
    )
    shared = values_a.by_question.keys() & values_b.by_question.keys()
    return is_related and len({a.clusters[name] for name in shared}) >= FEWEST
