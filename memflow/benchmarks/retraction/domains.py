"""Retraction's domains: 20 users in each language, off-policy and on-policy, and the demo with one user in each."""

from collections.abc import Iterator, Mapping
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.retraction.datasets import WORDS

_WORDS = {"en": "English", "zh": "Chinese"}


def _domain(name: str, title: str, parameters: Mapping[str, Any]) -> Domain:
    return Domain(
        f"retraction_{name}", "retraction", (WORDS.name,), f"Retraction, {title}", parameters, listed=False
    )


def _generated() -> Iterator[Domain]:
    for language, words in _WORDS.items():
        parameters = {"languages": (language,)}
        yield _domain(language, f"20 users in {words}, replies given", parameters)
        yield _domain(
            f"{language}_on",
            f"the same 20 users in {words}, replies by the assistant",
            {**parameters, "policy": "on"},
        )


DOMAINS = (
    *_generated(),
    _domain("demo", "one user in English and one in Chinese", {"languages": ("en", "zh"), "users": 1}),
)
