"""Noise in how satisfied a user is said to be, before anything is pressed (paper, A.3.9, Table 21).

The other noise of the paper is no noise in S: it is `like_midpoint` of the action model, from 3 to 9.
"""

import random

from memflow.benchmarks.memorybench.users.actions import LEAST, MOST


def perturbed(satisfaction: int, sigma: float, chance: random.Random) -> int:
    """S with Gaussian noise of that standard deviation (in points), rounded, from 1 to 10."""
    return max(LEAST, min(MOST, round(satisfaction + chance.gauss(0.0, sigma))))
