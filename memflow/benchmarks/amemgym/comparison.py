"""The comparison of AMemGym's assistants: by the metrics of verdicts, and by the memory score with its upper bounds.

The memory score is no mean over probes, so the bootstrap draws users and pools their probes per period again. Factual
recall is not compared, because its items are claims about the memory and not probes.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from memflow.metrics.diagnosis import memory_score
from memflow.records import Probe
from memflow.scoring.estimate import chance_values, change_slices
from memflow.scoring.measures import STANDARD, AggregateMeasure, Array, Mask, PairedSums, VerdictValues

NO_ORACLE = "the memory oracle has no scores with the same model, or is faulty; run it as well"
PARTS = 4
"""The sums of a period: the assistant's values, the upper bound's, chance, and the number of probes."""


def probe_slices(probes: Sequence[Probe]) -> dict[str, Sequence[Probe]]:
    """Return the probes of each slice: `all`, `period N`, and of choices `gold changed` and `gold unchanged`."""
    choices = [probe for probe in probes if probe.kind == "choice"]
    probes_by_slice: dict[str, Sequence[Probe]] = {"all": probes}
    for period in sorted({probe.checkpoint for probe in probes}):
        probes_by_slice[f"period {period}"] = [probe for probe in probes if probe.checkpoint == period]
    probes_by_slice |= change_slices(choices)
    return probes_by_slice


def memory_score_measures(values: VerdictValues) -> Iterator[AggregateMeasure]:
    """Yield the memory score over the probes that both assistants and their upper bounds answered."""
    accuracy = values.values.get("accuracy")
    if accuracy is None:
        return
    bounds = values.oracles
    chance_by_probe = chance_values(values.probes)
    chance = np.array([chance_by_probe.get(probe.probe_id, np.nan) for probe in values.probes])
    # Each probe belongs to a cell, one per user and period.
    users, user_indexes = np.unique(values.episodes, return_inverse=True)
    checkpoints = [probe.checkpoint for probe in values.probes]
    periods, period_indexes = np.unique(checkpoints, return_inverse=True)
    user_indexes = user_indexes.ravel()
    cells = user_indexes * len(periods) + period_indexes.ravel()

    def sums_by_user(assistant: int, mask: Mask) -> Array:
        """Return per user, in each period, the sums of accuracy, upper bound, chance and number of probes."""
        rows = (accuracy[assistant], accuracy[bounds[assistant]], chance, np.ones(chance.size))
        sums_of_rows = [np.bincount(cells[mask], row[mask], len(users) * len(periods)) for row in rows]
        return np.concatenate([sums.reshape(len(users), -1) for sums in sums_of_rows], axis=1)

    def has_values(assistant: int) -> Mask:
        bound = bounds[assistant]
        assert bound is not None
        mask: Mask = np.isfinite(accuracy[assistant]) & np.isfinite(accuracy[bound]) & np.isfinite(chance)
        return mask

    def pair(a: int, b: int) -> PairedSums:
        """Return the sums of two assistants over the probes of both, for the users with such a probe."""
        in_a, in_b = has_values(a), has_values(b)
        in_both = in_a & in_b
        users_in_both = np.isin(np.arange(len(users)), user_indexes[in_both])
        n = int(in_both.sum())
        return PairedSums(
            sums_by_user(a, in_both)[users_in_both],
            sums_by_user(b, in_both)[users_in_both],
            n,
            int(in_a.sum()) - n,
            int(in_b.sum()) - n,
        )

    yield AggregateMeasure(
        "memory_score",
        STANDARD,
        pair,
        pooled_memory_score,
        {index: NO_ORACLE for index, bound in enumerate(bounds) if bound is None},
    )


def pooled_memory_score(sums: Array) -> Array:
    """Return m memory scores of sums of shape (m, PARTS x periods); NaN where a period has no probes."""
    overall, upper, random, counts = np.split(sums, PARTS, axis=-1)
    return memory_score(overall / counts, upper / counts, random / counts)
