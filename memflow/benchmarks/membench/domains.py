"""MemBench's domains: factual and reflective questions in two scenes (participation, observation) and three sizes.

The numbers of trajectories per question kind and scenario are the paper's (section 4.1). The totals match the paper's
sizes if `noisy` is counted and emotion is not (docs/explanation/membench.md).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.kinds import SCENES, Scene

_SAMPLES: tuple[tuple[Scene, str, str, int, int], ...] = (
    ("participation", "", "sub-dataset 1: 360 factual and 120 reflective", 20, 20),
    ("observation", "", "sub-dataset 1: 280 factual and 60 reflective", 10, 20),
    ("participation", "_100k", "sub-dataset 2, lengthened by noise: 90 factual and 30 reflective", 5, 5),
    ("observation", "_100k", "sub-dataset 2, lengthened by noise: 84 factual and 15 reflective", 3, 5),
)
"""Scene, length, in words, and how many of a kind and scenario: factual, reflective (paper, section 4.1)."""


def _domain(
    name: str,
    datasets: str | tuple[str, ...],
    title: str,
    parameters: Mapping[str, Any],
    listed: bool = False,
) -> Domain:
    sources = (datasets,) if isinstance(datasets, str) else datasets
    return Domain(f"membench_{name}", "membench", sources, title, parameters, listed=listed)


def _sampled() -> Iterator[Domain]:
    for scene, length, words, factual, reflective in _SAMPLES:
        name, dataset = f"{scene}{length}", f"membench_{scene}{length}"
        sizes = {"factual": factual, "reflective": reflective, "emotion": 0}
        yield _domain(
            name, dataset, f"MemBench, {scene}, {words}", {"scene": scene, **sizes}, listed=not length
        )
        lengthened = ", lengthened by noise" if length else ""
        title = f"MemBench, {scene}{lengthened}: all that is published, emotion too"
        yield _domain(f"{name}_all", dataset, title, {"scene": scene})


def _raw() -> Iterator[Domain]:
    for scene in SCENES:
        name = f"{scene}_raw"
        yield _domain(name, f"membench_{name}", f"MemBench, {scene}, before sampling", {"scene": scene})


def _long() -> Iterator[Domain]:
    """Yield the domains that correspond to the paper's sub-dataset 2, whose trajectories are extended by noise.

    Participation uses the raw trajectories, because the sampled ones do not mark the ends of sessions.
    """
    for scene, source, tokens, between, factual, reflective in (
        ("participation", "participation_raw", 100_000, "sessions", 5, 5),
        ("observation", "observation", 10_000, "messages", 3, 5),
    ):
        sizes = {"factual": factual, "reflective": reflective, "emotion": 0}
        yield _domain(
            f"{scene}_long",
            (f"membench_{source}", "membench_noise"),
            f"MemBench, {scene}, lengthened here to {tokens:,} tokens by its noise",
            {"scene": scene, **sizes, "noise_tokens": tokens, "noise_between": between},
        )
    for length, tokens, factual in (("10k", 10_000, 10), ("100k", 100_000, 3)):
        yield _domain(
            f"memdaily_{length}",
            "memdaily",
            f"MemDaily, lengthened to {tokens:,} tokens by noise of our own making: observed, factual",
            {**_DAILY, "factual": factual, "noise_tokens": tokens, "noise_between": "messages"},
        )


def _generated() -> Iterator[Domain]:
    for language, name, words in (("en", "demo", "in English"), ("zh", "demo_zh", "in Chinese")):
        title = f"MemBench, two invented users with short sessions, {words}"
        yield _domain(name, f"lives_{language}", title, {**_SMALL, "language": language})
    for scene, words, tokens in (
        ("participation", "who talk with an assistant", 100_000),
        ("observation", "who are observed", 10_000),
    ):
        title = f"MemBench, generated for 20 invented users {words}"
        parameters = {"scene": scene, "graphs": 20}
        noise = {"noise_tokens": tokens, "noise_between": "sessions"}
        yield _domain(f"{scene}_generated", "lives_en", title, parameters)
        yield _domain(
            f"{scene}_generated_{tokens // 1000}k",
            "lives_en",
            f"{title}, lengthened to {tokens:,} tokens by noise",
            {**parameters, **noise},
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
_DAILY_CAPACITY: Mapping[str, Any] = {
    "kinds": ("simple",),
    "factual": 20,
    "noise_tokens": 5_000,
    "noise_between": "messages",
    "protocol": "capacity",
}
"""Only questions whose answer is in one message: the evidence of others is lost piece by piece."""

DOMAINS = (
    *_sampled(),
    *_raw(),
    *_generated(),
    _domain("memdaily", "memdaily", "MemDaily, MemBench's Chinese parent: observed, factual", _DAILY),
    *_long(),
    _domain(
        "observation_capacity",
        "membench_observation_100k",
        "MemBench, observation, sub-dataset 2, each question asked after every message that follows its evidence",
        {"scene": "observation", "factual": 3, "reflective": 5, "emotion": 0, "protocol": "capacity"},
    ),
    _domain(
        "memdaily_capacity",
        "memdaily",
        "MemDaily, lengthened to 5,000 tokens, each question asked after every message that follows its evidence",
        {**_DAILY, **_DAILY_CAPACITY},
    ),
)
