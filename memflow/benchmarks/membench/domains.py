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
    *(
        Domain(
            f"membench_memdaily_{length}",
            "membench",
            ("memdaily",),
            f"MemDaily with noise to {length} tokens, a part of each kind: observed, factual",
            {
                "scene": "observation",
                "language": "zh",
                "factual": factual,
                "noise_tokens": tokens,
                "noise_between": "messages",
            },
            listed=False,
        )
        # How many of each kind and scenario the paper samples of observed ones, as they are and with noise.
        for length, tokens, factual in (("10k", 10_000, 10), ("100k", 100_000, 3))
    ),
)
