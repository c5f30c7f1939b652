"""Personas of simulated users by data set and language, from personas_en.yaml and personas_zh.yaml (paper, A.2.2)."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from memflow.benchmarks.packaged import load_yaml
from memflow.errors import BadInput

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Persona(BaseModel):
    """The persona of a simulated user: identity, expertise, criteria, task and further details."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    persona: Words
    expertise: Words
    criteria: list[Words]
    task: Words
    more: str = ""

    def fields(self) -> dict[str, str]:
        """Return the fields of the feedback prompt."""
        listed = "\n".join(f"- {criterion}" for criterion in self.criteria)
        return {**self.model_dump(exclude={"criteria"}), "criteria": listed}


def persona(dataset: str, language: str) -> Persona:
    """Return the persona of a data set in a language. Raises BadInput for a data set without a persona."""
    found = personas(language).get(dataset)
    if found is None:
        raise BadInput(
            f"personas_{language}.yaml has no persona for the data set {dataset}. Add one to the file."
        )
    return found


@cache
def personas(language: str) -> Mapping[str, Persona]:
    """Return all personas of a language, by data set."""
    found = load_yaml("memflow.benchmarks.memorybench.users", f"personas_{language}.yaml")
    return {name: Persona.model_validate(each) for name, each in found.items()}
