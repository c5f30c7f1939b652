"""Personas (descriptions of people from which users are generated) and the selection of a domain's personas.

A persona is a record with an id, a name, `about` and any traits, or a row of Nemotron-Personas. persona_files.py reads
files, and states.py generates users.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.amemgym.answers import repeated
from memflow.benchmarks.amemgym.config import AMemGymConfig, parse_config
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.packaged import load_toml
from memflow.benchmarks.published_file import valid_records
from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import Record

_TEXTS: tuple[str, ...] = load_toml(__package__, "nemotron.toml")["texts"]
"""The prose columns of Nemotron-Personas, in the order of the prompt."""
_NO_DEGREE = ("", "no_degree", "None", "nan")
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")


class Persona(BaseModel):
    """A persona from which a user is generated. Extra keys are traits.

    If `name` or `about` is missing, the simulator writes both from `texts` (paper, appendix C.1).
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str = Field(min_length=1)
    name: str | None = Field(None, min_length=1)
    about: str | None = Field(None, min_length=1)
    texts: tuple[str, ...] = Field((), exclude=True)
    """Prose descriptions of the person, to be summarized."""

    def profile(self) -> str:
        """Return the profile text: one trait per line, `name` first and `about` last, as in published profiles."""
        traits = {"name": self.name, **(self.model_extra or {}), "about": self.about}
        return "\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in traits.items() if value)

    def basics(self) -> str:
        """Return the persona's profile text without the field `about`."""
        return self.model_copy(update={"about": None}).profile()

    def prose(self) -> str:
        """Return the persona's texts, which the simulator summarizes as `about`."""
        return "\n\n".join([*([self.about] if self.about else []), *self.texts])


@dataclass(frozen=True)
class DatasetPersona:
    """A persona and the data set that contains it."""

    persona: Persona
    dataset: str


def parse_persona(record_id: str, content: dict[str, Any]) -> Persona:
    """Return a record as a persona. Raises ValidationError."""
    if "about" not in content and any(name in content for name in _TEXTS[:2]):
        return _nemotron(record_id, content)
    return Persona.model_validate({**content, "id": record_id})


def _nemotron(record_id: str, row: dict[str, Any]) -> Persona:
    """Return a Nemotron-Personas row as a persona with the traits of published profiles."""
    education = str(row.get("education_level") or "")
    field = str(row.get("bachelors_field") or "")
    traits = {
        "age": row.get("age"),
        "gender": row.get("sex"),
        "marital_status": row.get("marital_status"),
        "education_level": education if field in _NO_DEGREE else f"{education} ({field})",
        "occupation": row.get("occupation"),
        "hobbies_and_interests": _list_text(row.get("hobbies_and_interests_list")),
        "skills_and_expertise": _list_text(row.get("skills_and_expertise_list")),
    }
    texts = tuple(str(row[name]) for name in _TEXTS if row.get(name))
    known_traits = {name: value for name, value in traits.items() if value not in (None, "")}
    return Persona.model_validate({"id": record_id, "name": row.get("name"), **known_traits, "texts": texts})


def _list_text(value: Any) -> str:
    """Return a list field of Nemotron-Personas, which may be a Python literal, as the text `a, b`."""
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    text = str(value or "")
    if text.startswith("[") and text.endswith("]"):
        return ", ".join(single or double for single, double in _QUOTED.findall(text))
    return text


def select_personas(domain: Domain, records: Sequence[Record]) -> list[DatasetPersona]:
    """Return the domain's personas, of each data set in turn, ordered by a digest of seed and id.

    The selection therefore does not depend on the file order or on other rows, and a smaller number of users is a
    prefix of a larger number. With `draw = "file"` the file order is used. Raises BadInput if there are too few.
    """
    config = parse_config(domain)
    user_count = min(config.users, domain.limit or config.users)
    personas = list(islice(_personas(domain, config, records), user_count))
    if len(personas) < user_count:
        raise BadInput(
            f"domain {domain.name} needs {config.users} users, but its data sets have only "
            f"{len(personas)} personas. Add a data set of personas, or lower the parameter users."
        )
    if duplicates := repeated(persona.persona.id for persona in personas):
        raise BadInput(
            f"domain {domain.name}: the persona {duplicates[0]!r} occurs twice in the domain's data sets. "
            "Rename one."
        )
    return personas


def _personas(domain: Domain, config: AMemGymConfig, records: Sequence[Record]) -> Iterator[DatasetPersona]:
    """Yield the personas of persona files in order. Each persona is parsed only when requested."""
    rows = valid_records(records)
    if config.draw == "seed":
        datasets = list(dict.fromkeys(row.dataset for row in rows))
        rows.sort(key=lambda row: (datasets.index(row.dataset), digest(domain.seed, row.record_id)))
    for row in rows:
        content = json.loads(row.content)
        if "state_schema" in content:
            raise BadInput(
                f"domain {domain.name}: {row.source} contains users with states, not personas. Use a data "
                "set of personas, or remove the parameter users to use these users unchanged."
            )
        yield DatasetPersona(parse_persona(row.record_id, content), row.dataset)
