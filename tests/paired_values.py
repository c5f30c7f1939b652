"""The comparison of two assistants pair by pair, in plain Python: what the vectorized comparison has to equal."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from memflow.metrics.paired import mean_differences
from memflow.scoring.comparison import PairedDifference, paired_difference


class Pair(NamedTuple):
    """The values of one probe for two assistants."""

    episode: str
    probe_id: str
    a: float
    b: float


class Pairing(NamedTuple):
    """The pairs of two assistants, and the numbers of probes with a value for only one of them."""

    pairs: list[Pair]
    unpaired_a: int
    unpaired_b: int


def pair_values(a: Mapping[str, float], b: Mapping[str, float], episodes: Mapping[str, str]) -> Pairing:
    """Pair the values of two assistants by probe id. `episodes` has the episode of every probe that may be paired."""
    pairs = [
        Pair(episode, probe, a[probe], b[probe])
        for probe, episode in episodes.items()
        if probe in a and probe in b
    ]
    of_a, of_b = (sum(probe in values for probe in episodes) for values in (a, b))
    return Pairing(pairs, of_a - len(pairs), of_b - len(pairs))


def compare_pairs(
    pairs: Iterable[Pair], *, unpaired_a: int = 0, unpaired_b: int = 0, seed: int = 0
) -> PairedDifference:
    """Return the mean difference a - b over pairs, clustered by episode. Equal seeds give equal results."""
    by_episode: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_episode.setdefault(pair.episode, []).append(pair)
    sums = np.array(
        [
            (math.fsum(pair.a for pair in each), math.fsum(pair.b for pair in each), len(each))
            for _, each in sorted(by_episode.items())
        ]
    ).reshape(-1, 3)
    n = sums[:, 2].sum()
    return paired_difference(
        mean_differences(sums[:, :1] - sums[:, 1:2], sums[:, 2:], seed=seed),
        (sums[:, 0].sum() / n, sums[:, 1].sum() / n) if n else (math.nan, math.nan),
        n=int(n),
        unpaired=(unpaired_a, unpaired_b),
    )
