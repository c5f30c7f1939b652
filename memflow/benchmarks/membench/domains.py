"""MemBench's domains."""

from memflow.domains import Domain

SMALL = {
    "graphs": 2,
    "roles": 3,
    "events": 3,
    "role_rounds": 3,
    "event_rounds": 2,
    "items": (3, 3),
    "fillers": (1, 1),
}
"""Sizes of a domain to try things with."""

DOMAINS = (
    Domain(
        "membench_demo",
        "membench",
        ("lives_en",),
        "MemBench, two invented users with short sessions",
        SMALL,
        listed=False,
    ),
    Domain(
        "membench_demo_zh",
        "membench",
        ("lives_zh",),
        "MemBench, two invented users with short sessions, in Chinese",
        {**SMALL, "language": "zh"},
        listed=False,
    ),
    Domain(
        "membench_participation_generated",
        "membench",
        ("lives_en",),
        "MemBench, generated for 20 invented users who talk with an assistant",
        {"graphs": 20},
        listed=False,
    ),
    Domain(
        "membench_observation_generated",
        "membench",
        ("lives_en",),
        "MemBench, generated for 20 invented users who are observed",
        {"scene": "observation", "graphs": 20},
        listed=False,
    ),
    Domain(
        "membench_memdaily",
        "membench",
        ("memdaily",),
        "MemDaily, MemBench's Chinese parent: observed, factual",
        {"scene": "observation", "language": "zh"},
        listed=False,
    ),
)
