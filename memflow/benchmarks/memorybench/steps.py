"""The training cases of each learning step: consecutive batches of all cases, or random samples (paper, A.3.6, A.3.7).

Each step ends with a checkpoint; checkpoint 0 is before the first step.
"""

import math
import random
from collections.abc import Sequence
from typing import TypeVar

from memflow.benchmarks.memorybench.config import Parameters

T = TypeVar("T")


def shuffled(cases: Sequence[T], seed: int) -> list[T]:
    """Return all cases in an order that depends only on the seed."""
    found = list(cases)
    random.Random(seed).shuffle(found)
    return found


def batches(cases: Sequence[T], size: int, seed: int) -> list[list[T]]:
    """Return all cases in batches of `size`, in random order. The last batch can be smaller."""
    order = shuffled(cases, seed)
    return [order[first : first + size] for first in range(0, len(order), size)]


def draws(cases: Sequence[T], size: int, steps: int, seed: int) -> list[list[T]]:
    """Return `size` cases for each step. A case occurs at most once per step but can recur in other steps."""
    generator = random.Random(seed)
    return [generator.sample(cases, min(size, len(cases))) for _ in range(steps)]


def checkpoints(parameters: Parameters, training: int) -> range:
    """Return the checkpoints of a domain with this number of training cases."""
    if parameters.protocol == "stepwise":
        return range(1 + math.ceil(training / parameters.batch))
    return range(1 + parameters.steps if parameters.protocol == "on_policy" else 1)
