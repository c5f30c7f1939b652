"""Which training cases make up each step of learning: batches of all of them, or draws (paper, A.3.6, A.3.7).

A step is a checkpoint: 0 is before the first. What happens in a step, episodes.py says; what is asked after it,
protocols.py.
"""

import math
import random
from collections.abc import Sequence
from typing import TypeVar

from memflow.benchmarks.memorybench.config import Parameters

T = TypeVar("T")


def shuffled(cases: Sequence[T], seed: int) -> list[T]:
    """All cases, in an order that depends on the seed alone."""
    found = list(cases)
    random.Random(seed).shuffle(found)
    return found


def batches(cases: Sequence[T], size: int, seed: int) -> list[list[T]]:
    """All cases, shuffled, `size` at a time; the last batch has what is left."""
    order = shuffled(cases, seed)
    return [order[first : first + size] for first in range(0, len(order), size)]


def draws(cases: Sequence[T], size: int, steps: int, seed: int) -> list[list[T]]:
    """For each step `size` of the cases, or all where there are fewer: none twice in a step, any again in the next."""
    generator = random.Random(seed)
    return [generator.sample(cases, min(size, len(cases))) for _ in range(steps)]


def checkpoints(parameters: Parameters, training: int) -> range:
    """The checkpoints of a domain with so many training cases."""
    if parameters.protocol == "stepwise":
        return range(1 + math.ceil(training / parameters.batch))
    return range(1 + parameters.steps if parameters.protocol == "on_policy" else 1)
