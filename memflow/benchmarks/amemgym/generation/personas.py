"""Personas: who a generated user is before anything is known of their states, and which of them a domain takes.

A persona is a record of ours (id, name, about and any traits), or of Nemotron-Personas as published; how files of
either are read is persona_files.py, how personas are invented from lists of traits, invented.py. What a model
makes of a persona is generation.py.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.amemgym.config import Sizes, sizes_of
from memflow.benchmarks.amemgym.generation.trait_lists import Traits, invent
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import Record

TRAITS = ".yaml"
"""Ending of a file that holds lists of traits, and no personas."""
_TEXTS = (
    "persona",
    "professional_persona",
    "sports_persona",
    "arts_persona",
    "travel_persona",
    "culinary_persona",
    "cultural_background",
    "skills_and_expertise",
    "hobbies_and_interests",
    "career_goals_and_ambitions",
)
"""Nemotron-Personas' columns that tell of the person in prose, in the order in which they are shown."""
_NO_DEGREE = ("", "no_degree", "None", "nan")
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")


class Persona(BaseModel):
    """A person to generate a user from. Other keys are traits, shown to the simulator line by line.

    Without a name or an `about`, both are drawn from `texts`, one request (paper, appendix C.1).
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str = Field(min_length=1)
    name: str | None = Field(None, min_length=1)
    about: str | None = Field(None, min_length=1)
    texts: tuple[str, ...] = Field((), exclude=True)
    """What is told of the person in prose, to be summed up."""

    def profile(self) -> str:
        """The traits in words, one a line: the name first and `about` last, as in published profiles."""
        traits = {"name": self.name, **(self.model_extra or {}), "about": self.about}
        return "\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in traits.items() if value)

    def basics(self) -> str:
        """The traits in words, without `about`; for the request that sums up what is told besides."""
        return self.model_copy(update={"about": None}).profile()

    def told(self) -> str:
        """What is to be summed up."""
        return "\n\n".join([*([self.about] if self.about else []), *self.texts])


@dataclass(frozen=True)
class Person:
    """A persona that a domain takes, and the data set that it is of."""

    persona: Persona
    dataset: str


def persona_of(record_id: str, content: dict[str, Any]) -> Persona:
    """The persona of a record. Raises ValidationError where it is none."""
    if "about" not in content and any(name in content for name in _TEXTS[:2]):
        return _nemotron(record_id, content)
    return Persona.model_validate({**content, "id": record_id})


def _nemotron(record_id: str, row: dict[str, Any]) -> Persona:
    """A row of Nemotron-Personas, with the traits that published profiles show."""
    education = str(row.get("education_level") or "")
    field = str(row.get("bachelors_field") or "")
    traits = {
        "age": row.get("age"),
        "gender": row.get("sex"),
        "marital_status": row.get("marital_status"),
        "education_level": education if field in _NO_DEGREE else f"{education} ({field})",
        "occupation": row.get("occupation"),
        "hobbies_and_interests": _listed(row.get("hobbies_and_interests_list")),
        "skills_and_expertise": _listed(row.get("skills_and_expertise_list")),
    }
    texts = tuple(str(row[name]) for name in _TEXTS if row.get(name))
    given = {name: value for name, value in traits.items() if value not in (None, "")}
    return Persona.model_validate({"id": record_id, "name": row.get("name"), **given, "texts": texts})


def _listed(value: Any) -> str:
    """A list as published profiles show it: `a, b`. The data set writes lists as Python does."""
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    text = str(value or "")
    if text.startswith("[") and text.endswith("]"):
        return ", ".join(one or other for one, other in _QUOTED.findall(text))
    return text


def people(domain: Domain, records: Sequence[Record]) -> list[Person]:
    """The people that the domain takes, by its seed.

    Personas stand in the order of a digest of seed and id, so that neither the file's order nor its other rows
    change who is taken, and a smaller number of users are the first of a larger; with `draw = "file"` in the file's
    order. Where they are too few, lists of traits give the rest. Raises BadInput where there are still too few.
    """
    sizes = sizes_of(domain)
    wanted = min(sizes.users, domain.limit or sizes.users)
    found: list[Person] = []
    available = chain(_read(domain, sizes, records), _invented(domain, sizes, records))
    for person in available:
        if len(found) == wanted:
            break
        found.append(person)
    if len(found) < wanted:
        raise BadInput(
            f"domain {domain.name} is to have {sizes.users} users, but there are {len(found)} personas; "
            "give it more personas or lower its parameter users"
        )
    ids = [person.persona.id for person in found]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise BadInput(f"domain {domain.name}: two of its data sets have a persona {twice[0]!r}; rename one")
    return found


def _read(domain: Domain, sizes: Sizes, records: Sequence[Record]) -> Iterator[Person]:
    """Those that stand in files, in the order in which they are taken; each is made only when it is asked for."""
    rows = [
        row for row in records if not row.source.endswith(TRAITS) and row.record_id not in sizes.leave_out
    ]
    if sizes.draw == "seed":
        rows.sort(key=lambda row: digest(domain.seed, row.record_id))
    for row in rows:
        content = json.loads(row.content)
        if "state_schema" in content:
            raise BadInput(
                f"domain {domain.name}: {row.source} holds users with their states, no personas; name a data set "
                "of personas, or leave out its parameter users to take them as they are"
            )
        yield Person(persona_of(row.record_id, content), row.dataset)


def _invented(domain: Domain, sizes: Sizes, records: Sequence[Record]) -> Iterator[Person]:
    for row in records:
        if row.source.endswith(TRAITS):
            traits = Traits.model_validate_json(row.content)
            for made in invent(traits, domain.seed):
                if made["id"] not in sizes.leave_out:
                    yield Person(Persona.model_validate(made), row.dataset)
