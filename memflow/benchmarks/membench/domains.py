"""MemBench's domains: each scene, factual and reflective, as the paper samples it, as it is published, and before that.

How many trajectories are drawn of each kind of question and scenario is the paper's (section 4.1): its sizes come out
where `noisy` is counted in, and emotion is not (docs/fidelity.md).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.kinds import Scene

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


def _long() -> Iterator[Domain]:
    """Trajectories that noise is woven into here, to the lengths of sub-dataset 2 and its sizes.

    Where two speak they are the raw ones, as those that are sampled do not say where a session ends.
    """
    for scene, of, tokens, between, factual, reflective in (
        ("participation", "participation_raw", 100_000, "sessions", 5, 5),
        ("observation", "observation", 10_000, "messages", 3, 5),
    ):
        yield Domain(
            f"membench_{scene}_long",
            "membench",
            (f"membench_{of}", "membench_noise"),
            f"MemBench, {scene}, lengthened here to {tokens:,} tokens by its noise",
            {
                "scene": scene,
                "factual": factual,
                "reflective": reflective,
                "emotion": 0,
                "noise_tokens": tokens,
                "noise_between": between,
            },
            listed=False,
        )
    for length, tokens, factual in (("10k", 10_000, 10), ("100k", 100_000, 3)):
        yield Domain(
            f"membench_memdaily_{length}",
            "membench",
            ("memdaily",),
            f"MemDaily, lengthened to {tokens:,} tokens by noise of our own making: observed, factual",
            {**_DAILY, "factual": factual, "noise_tokens": tokens, "noise_between": "messages"},
            listed=False,
        )


def _generated() -> Iterator[Domain]:
    """Trajectories of users who are invented here; where two speak, and where one is observed."""
    for language, name in (("en", "membench_demo"), ("zh", "membench_demo_zh")):
        words = "in Chinese" if language == "zh" else "in English"
        yield Domain(
            name,
            "membench",
            (f"lives_{language}",),
            f"MemBench, two invented users with short sessions, {words}",
            {**_SMALL, "language": language},
            listed=False,
        )
    for scene, words, tokens in (
        ("participation", "who talk with an assistant", 100_000),
        ("observation", "who are observed", 10_000),
    ):
        title = f"MemBench, generated for 20 invented users {words}"
        for name, more, length in (
            ("generated", {}, ""),
            (
                f"generated_{tokens // 1000}k",
                {"noise_tokens": tokens, "noise_between": "sessions"},
                f", lengthened to {tokens:,} tokens by noise",
            ),
        ):
            yield Domain(
                f"membench_{scene}_{name}",
                "membench",
                ("lives_en",),
                f"{title}{length}",
                {"scene": scene, "graphs": 20, **more},
                listed=False,
            )


def _capacity() -> Iterator[Domain]:
    """Each question asked after every message that follows its evidence, in trajectories long enough for it: those of
    sub-dataset 2, as in section 4.4, and MemDaily's with noise: those whose answer rests on one message, as others are
    lost piece by piece."""
    yield Domain(
        "membench_observation_capacity",
        "membench",
        ("membench_observation_100k",),
        "MemBench, observation, sub-dataset 2, each question asked after every message that follows its evidence",
        {"scene": "observation", "factual": 3, "reflective": 5, "emotion": 0, "protocol": "capacity"},
        listed=False,
    )
    yield Domain(
        "membench_memdaily_capacity",
        "membench",
        ("memdaily",),
        "MemDaily, lengthened to 5,000 tokens, each question asked after every message that follows its evidence",
        {
            **_DAILY,
            "kinds": ("simple",),
            "factual": 20,
            "noise_tokens": 5_000,
            "noise_between": "messages",
            "protocol": "capacity",
        },
        listed=False,
    )


_SMALL: Mapping[str, Any] = {
    "graphs": 2,
    "roles": 3,
    "events": 3,
    "role_rounds": 3,
    "event_rounds": 2,
    "items": (3, 3),
    "fillers": (1, 1),
}
"""Sizes of a domain to try things with."""
_DAILY: Mapping[str, Any] = {"scene": "observation", "language": "zh"}

DOMAINS = (
    *_sampled(),
    *_raw(),
    *_generated(),
    Domain(
        "membench_memdaily",
        "membench",
        ("memdaily",),
        "MemDaily, MemBench's Chinese parent: observed, factual",
        _DAILY,
        listed=False,
    ),
    *_long(),
    *_capacity(),
)
