"""BEAM's domains: one for each size, and the sample that ships with memflow."""

from memflow.benchmarks.beam.datasets import LARGE, LARGEST, MIDDLE, SAMPLE, SMALL
from memflow.benchmarks.domains import Domain

_TITLES = {
    SMALL.name: "BEAM 100K: 400 questions about 20 conversations",
    MIDDLE.name: "BEAM 500K: 700 questions about 35 conversations",
    LARGE.name: "BEAM 1M: 700 questions about 35 conversations",
    LARGEST.name: "BEAM 10M: 200 questions about 10 conversations of 10 to 13 million tokens",
}
DOMAINS = (
    *(Domain(name, "beam", (name,), title, listed=False) for name, title in _TITLES.items()),
    Domain(
        "beam_demo",
        "beam",
        (SAMPLE.name,),
        "BEAM in small: 40 questions of our own, for trials",
        listed=False,
    ),
)
