"""HaluMem's domains: both sizes, and the demo."""

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.halumem.datasets import LONG, MEDIUM, SAMPLE

_NAME = "halumem"
DOMAINS = (
    Domain(
        "halumem_medium", _NAME, (MEDIUM.name,), "HaluMem: operations and answers of 20 users", listed=False
    ),
    Domain(
        "halumem_long",
        _NAME,
        (LONG.name,),
        "HaluMem: the same, with sessions of other talk between theirs",
        listed=False,
    ),
    Domain(
        "halumem_demo",
        _NAME,
        (SAMPLE.name,),
        "HaluMem in small, from users that ship with memflow",
        listed=False,
    ),
)
