"""What MemoryBench's assistants are compared under: each task's metric, and min-max and z scores over all tasks.

Min-max and z scores are compared in the variant `pooled`, between assistants with the same chat model, as means over
all cases. Another scale changes the weights of the data sets only. Cases that share no corpus are independent, and
count as episodes of their own, as in scoring.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from memflow.benchmarks.memorybench.scales import SCALES
from memflow.benchmarks.memorybench.scoring import POOLED
from memflow.benchmarks.memorybench.selection import INDEPENDENT_CASES
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.scoring.groups import Spread
from memflow.scoring.measures import (
    Array,
    MeanMeasure,
    Measure,
    Slices,
    VerdictValues,
    mean_measures,
)


def make_measures(benchmark: str, values: VerdictValues, slices: Slices) -> Iterator[Measure]:
    """Yield the measures of a domain: of each task's metric, then of both scales for each chat model."""
    episodes = [
        probe.probe_id if probe.episode_id in INDEPENDENT_CASES else probe.episode_id
        for probe in values.probes
    ]
    for measure in mean_measures(benchmark, values, slices):
        yield replace(measure, episodes=episodes)
    own = {name: each for name, each in slices.items() if not name.startswith("category ")}
    masks = values.masks(own)
    for model in dict.fromkeys(values.models):
        members = frozenset(at for at, each in enumerate(values.models) if each == model)
        for metric in SCALES:
            scaled = _scaled(metric, values, sorted(members))
            if scaled is not None:
                yield MeanMeasure(metric, POOLED, episodes, scaled, masks, members)


def _scaled(metric: str, values: VerdictValues, members: Sequence[int]) -> Array | None:
    """Return the scaled values of the assistants `members`; None if a data set has no values to scale by."""
    found = np.full((len(values.assistants), len(values.probes)), np.nan)
    rows = np.array(members)
    for dataset in dict.fromkeys(probe.dataset for probe in values.probes):
        array = values.values.get(TASKS[dataset].metric)
        chosen = np.array([probe.dataset == dataset for probe in values.probes])
        if array is None:
            return None
        cells = np.ix_(rows, np.flatnonzero(chosen))
        known = array[cells][np.isfinite(array[cells])]
        if not known.size:
            return None
        spread = Spread(known.size, *(float(part(known)) for part in (np.mean, np.std, np.min, np.max)))
        by, shift = SCALES[metric](spread)
        found[cells] = by * array[cells] + shift
    return found
