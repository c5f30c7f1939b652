"""Personas of simulated users by data set and language, from personas_en.yaml and personas_zh.yaml (paper, A.2.2)."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from memflow.benchmarks.packaged import load_yaml


class Persona(NamedTuple):
    """The persona of a simulated user: identity, expertise, criteria, task and further details."""

    persona: str
    expertise: str
    criteria: list[str]
    task: str
    more: str = ""

    def fields(self) -> dict[str, str]:
        """Return the persona's fields by name for the feedback prompt, the criteria as one text."""
        listed = "\n".join(f"- {criterion}" for criterion in self.criteria)
        return {**self._asdict(), "criteria": listed}


def persona(dataset: str, language: str) -> Persona:
    """Return the persona of a data set in a language."""
    return Persona(**_personas(language)[dataset])


@cache
def _personas(language: str) -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = load_yaml(__package__, f"personas_{language}.yaml")
    return found
