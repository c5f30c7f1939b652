"""Who the simulated users are, by data set and language: personas_en.yaml and personas_zh.yaml (paper, A.2.2).

What such a user knows to be right about a case is contexts.py's; how they are asked for, reactions.py's.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, StringConstraints

from memflow.errors import BadInput

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Persona(BaseModel):
    """A user: who they are, what they know, what they look at, what they are after, and what else there is to say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    persona: Words
    expertise: Words
    criteria: list[Words]
    task: Words
    more: str = ""

    def fields(self) -> dict[str, str]:
        """As the feedback prompt takes them."""
        listed = "\n".join(f"- {criterion}" for criterion in self.criteria)
        return {**self.model_dump(exclude={"criteria"}), "criteria": listed}


def persona(dataset: str, language: str) -> Persona:
    """The user of that data set's cases in that language. Raises BadInput where there is none."""
    found = personas(language).get(dataset)
    if found is None:
        raise BadInput(f"personas_{language}.yaml has no user for the data set {dataset}; add one")
    return found


@cache
def personas(language: str) -> Mapping[str, Persona]:
    """All users who speak `en` or `zh`, by data set."""
    text = files(__package__).joinpath(f"personas_{language}.yaml").read_text(encoding="utf-8")
    return {name: Persona.model_validate(said) for name, said in yaml.safe_load(text).items()}
