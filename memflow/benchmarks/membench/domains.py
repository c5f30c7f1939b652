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
    Domain(
        "membench_memdaily_capacity",
        "membench",
        ("memdaily",),
        "MemDaily, each question asked after every message that follows its evidence",
        {"scene": "observation", "language": "zh", "protocol": "capacity"},
        listed=False,
    ),
)
