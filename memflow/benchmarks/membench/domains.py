"""MemBench's domains."""

from memflow.domains import Domain

DOMAINS = (
    Domain(
        "membench_memdaily",
        "membench",
        ("memdaily",),
        "MemDaily, MemBench's Chinese parent: observed, factual",
        {"scene": "observation", "language": "zh"},
        listed=False,
    ),
)
