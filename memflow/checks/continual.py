"""The check that accuracy, transfer and forgetting on the leaderboard fit together.

memflow/scoring/continual.py computes the metrics of all checkpoints from the same questions, so that they satisfy
identities such as accuracy = no-context accuracy + forward transfer - forgetting.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from memflow.checks.rules import Expectation, WholeTable, expect
from memflow.records import Score
from memflow.scoring.continual import ACCURACY, BY_CHECKPOINT, COMPLETE, GUESS

ROUNDING = 1e-9
Values = Mapping[tuple[str, str], float]
"""Metric values of one assistant in one domain by (metric, slice)."""
Positions = Mapping[tuple[str, str], int]
"""Positions of the same scores among the rows of the leaderboard."""


def _by_assistant(scores: Sequence[Score]) -> Iterator[tuple[Values, Positions]]:
    """Yield each assistant's continual-learning metrics in each domain, and the index of each; nulls are skipped."""
    values: dict[tuple[str, str], dict[tuple[str, str], float]] = defaultdict(dict)
    positions: dict[tuple[str, str], dict[tuple[str, str], int]] = defaultdict(dict)
    for at, score in enumerate(scores):
        variant = COMPLETE if score.metric in (ACCURACY, GUESS) else "standard"
        continual = score.metric in (ACCURACY, GUESS, *BY_CHECKPOINT)
        if continual and score.variant == variant and score.value is not None:
            group = score.domain, score.assistant
            values[group][score.metric, score.slice] = score.value
            positions[group][score.metric, score.slice] = at
    for group, of_group in values.items():
        yield of_group, positions[group]


def _checkpoints(values: Values) -> list[str]:
    """Return the slice names (`checkpoint N`) that have a transfer or forgetting score, in order."""
    named = {name for metric, name in values if metric in BY_CHECKPOINT and name.startswith("checkpoint ")}
    return sorted(named, key=lambda name: int(name.partition(" ")[2]))


def _violates_identity(scores: Sequence[Score]) -> list[int]:
    """Return the indices of accuracies that differ from no-context accuracy + forward transfer - forgetting.

    An accuracy also violates the identity if one of these scores is missing.
    """
    found = []
    for values, positions in _by_assistant(scores):
        no_context = values.get((GUESS, "all"), math.nan)
        transfer, wanted = 0.0, {}
        for name in _checkpoints(values):
            transfer += values.get(("forward_transfer", name), math.nan)
            wanted[name] = no_context + transfer - values.get(("forgetting", name), math.nan)
        for (metric, name), at in positions.items():
            # A checkpoint without transfer and forgetting is the first one.
            if (
                metric == ACCURACY
                and not abs(wanted.get(name, no_context) - values[metric, name]) <= ROUNDING
            ):
                found.append(at)
    return sorted(found)


EXPECTED: tuple[Expectation, ...] = expect(
    "score.leaderboard",
    {
        "accuracy_equals_no_context_plus_transfer_minus_forgetting": WholeTable(_violates_identity),
    },
)
