"""Personas composed from lists of traits, for domains without enough personas in files.

The lists are YAML files, one per language, in sample/ or in a data set. Persona n depends only on the seed and n.
"""

import random
from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memflow.fingerprint import seeded

ShortText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
ADULT, OLDEST = 18, 90


class _TraitModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GenderNames(_TraitModel):
    """A gender with its given names and its pronoun at the beginning of a sentence."""

    gender: ShortText
    pronoun: ShortText
    names: list[ShortText] = Field(min_length=1)


class OccupationTraits(_TraitModel):
    """An occupation with its age range, its education, and a sentence about it."""

    occupation: ShortText
    education: ShortText
    ages: tuple[int, int]
    about: ShortText


class MaritalStatus(_TraitModel):
    """A marital status with its minimum age."""

    status: ShortText
    age: int = Field(ADULT, ge=ADULT, le=OLDEST)


class TraitLists(_TraitModel):
    """Lists of traits. In sentences, $name is replaced by the person's name and $who by the pronoun."""

    name: ShortText
    """Template of a full name: `$given $family`."""
    called: ShortText
    """Template of the name within sentences: `$given`."""
    given: list[GenderNames] = Field(min_length=1)
    family: list[ShortText] = Field(min_length=1)
    lives: list[OccupationTraits] = Field(min_length=1)
    standings: list[MaritalStatus] = Field(min_length=1)
    homes: list[ShortText] = Field(min_length=1)
    hobbies: list[ShortText] = Field(min_length=3)
    skills: list[ShortText] = Field(min_length=2)
    tempers: list[ShortText] = Field(min_length=1)
    pasts: list[ShortText] = Field(min_length=1)
    aims: list[ShortText] = Field(min_length=1)
    joint: str = Field(max_length=4)
    """Separator between sentences."""
    comma: str = Field(max_length=4)


def invent_personas(traits: TraitLists, seed: int) -> Iterator[dict[str, Any]]:
    """Yield personas with distinct names until all names are used."""
    names = []
    for gender in traits.given:
        names += [(gender, given, family) for given, family in product(gender.names, traits.family)]
    random.Random(seeded(seed, "names")).shuffle(names)
    for number, (gender, given, family) in enumerate(names):
        name = traits.name.replace("$given", given).replace("$family", family)
        called = traits.called.replace("$given", given).replace("$family", family)
        yield {"id": f"p{number:04}", "name": name, **_person_traits(traits, seed, number, gender, called)}


def _person_traits(
    traits: TraitLists, seed: int, number: int, gender: GenderNames, called: str
) -> dict[str, Any]:
    rng = random.Random(seeded(seed, "person", number))
    occupation = rng.choice(traits.lives)
    age = rng.randint(*occupation.ages)
    statuses = [marital_status.status for marital_status in traits.standings if marital_status.age <= age]
    sentences = [
        occupation.about,
        rng.choice(traits.homes),
        rng.choice(traits.pasts),
        rng.choice(traits.tempers),
        rng.choice(traits.aims),
    ]
    return {
        "age": age,
        "gender": gender.gender,
        "marital_status": rng.choice(statuses or [traits.standings[0].status]),
        "education_level": occupation.education,
        "occupation": occupation.occupation,
        "hobbies_and_interests": traits.comma.join(rng.sample(traits.hobbies, 3)),
        "skills_and_expertise": traits.comma.join(rng.sample(traits.skills, 2)),
        "about": traits.joint.join(
            sentence.replace("$name", called).replace("$who", gender.pronoun) for sentence in sentences
        ),
    }
