"""MemBench's domains: each scene, factual and reflective, as the paper samples it, as it is published, and before that.

How many trajectories are drawn of each kind of question and scenario is the paper's (section 4.1): its sizes come out
where `noisy` is counted in, and emotion is not (docs/fidelity.md).
"""

from collections.abc import Iterator

from memflow.benchmarks.membench.kinds import Scene
from memflow.domains import Domain

_SAMPLES: tuple[tuple[Scene, str, str, int, int], ...] = (
    ("participation", "", "sub-dataset 1: 360 factual and 120 reflective", 20, 20),
    ("observation", "", "sub-dataset 1: 280 factual and 60 reflective", 10, 20),
    ("participation", "_100k", "sub-dataset 2, lengthened by noise: 90 factual and 30 reflective", 5, 5),
    ("observation", "_100k", "sub-dataset 2, lengthened by noise: 84 factual and 15 reflective", 3, 5),
)
"""Scene, length, in words, and how many of a kind and scenario: factual, reflective (paper, section 4.1)."""


def _sampled() -> Iterator[Domain]:
    for scene, length, words, factual, reflective in _SAMPLES:
        sizes = {"factual": factual, "reflective": reflective, "emotion": 0}
        dataset = f"membench_{scene}{length}"
        yield Domain(
            dataset,
            "membench",
            (dataset,),
            f"MemBench, {scene}, {words}",
            {"scene": scene, **sizes},
            listed=not length,
        )
        yield Domain(
            f"{dataset}_all",
            "membench",
            (dataset,),
            f"MemBench, {scene}{', lengthened by noise' if length else ''}: all that is published, emotion too",
            {"scene": scene},
            listed=False,
        )


def _raw() -> Iterator[Domain]:
    for scene in ("participation", "observation"):
        yield Domain(
            f"membench_{scene}_raw",
            "membench",
            (f"membench_{scene}_raw",),
            f"MemBench, {scene}, before sampling",
            {"scene": scene},
            listed=False,
        )


DOMAINS = (
    *_sampled(),
    *_raw(),
    Domain(
        "membench_memdaily",
        "membench",
        ("memdaily",),
        "MemDaily, MemBench's Chinese parent: observed, factual",
        {"scene": "observation", "language": "zh"},
        listed=False,
    ),
)
