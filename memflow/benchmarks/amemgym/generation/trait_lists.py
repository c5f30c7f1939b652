"""Personas invented from lists of traits, so that any number of users works with no file of personas.

The lists are files in sample/, one for each language, and a user's own may stand in their place. The n-th person
depends on the seed and n alone.
"""

import random
from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memflow.fingerprint import seeded

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
ADULT, OLDEST = 18, 90


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Given(_Part):
    """A gender in words, with its pronoun at the beginning of a sentence, and its given names."""

    gender: Words
    pronoun: Words
    names: list[Words] = Field(min_length=1)


class Life(_Part):
    """What somebody does, and who may: the ages, the education, and a sentence about it."""

    occupation: Words
    education: Words
    ages: tuple[int, int]
    about: Words


class Standing(_Part):
    """A marital status, and from which age on."""

    status: Words
    age: int = Field(ADULT, ge=ADULT, le=OLDEST)


class Traits(_Part):
    """Lists of traits. In the sentences, $name stands for the person's name, $who for the pronoun."""

    name: Words
    """How a full name is put together: `$given $family`."""
    called: Words
    """The same for how sentences call somebody: `$given`."""
    given: list[Given] = Field(min_length=1)
    family: list[Words] = Field(min_length=1)
    lives: list[Life] = Field(min_length=1)
    standings: list[Standing] = Field(min_length=1)
    homes: list[Words] = Field(min_length=1)
    hobbies: list[Words] = Field(min_length=3)
    skills: list[Words] = Field(min_length=2)
    tempers: list[Words] = Field(min_length=1)
    pasts: list[Words] = Field(min_length=1)
    aims: list[Words] = Field(min_length=1)
    joint: str = Field(max_length=4)
    """What stands between two sentences, and between the items of a list."""
    comma: str = Field(max_length=4)


def invent(traits: Traits, seed: int) -> Iterator[dict[str, Any]]:
    """People without end but for their names: no two have the same, so there are as many as there are names."""
    named = [
        (each, given, family) for each in traits.given for given, family in product(each.names, traits.family)
    ]
    random.Random(seeded(seed, "names")).shuffle(named)
    for number, (sort, given, family) in enumerate(named):
        name, called = (
            form.replace("$given", given).replace("$family", family) for form in (traits.name, traits.called)
        )
        yield {"id": f"p{number:04}", "name": name, **_person(traits, seed, number, sort, called)}


def _person(traits: Traits, seed: int, number: int, sort: Given, called: str) -> dict[str, Any]:
    chance = random.Random(seeded(seed, "person", number))
    life = chance.choice(traits.lives)
    age = chance.randint(*life.ages)
    possible = [standing.status for standing in traits.standings if standing.age <= age]
    sentences = [
        life.about,
        chance.choice(traits.homes),
        chance.choice(traits.pasts),
        chance.choice(traits.tempers),
        chance.choice(traits.aims),
    ]
    return {
        "age": age,
        "gender": sort.gender,
        "marital_status": chance.choice(possible or [traits.standings[0].status]),
        "education_level": life.education,
        "occupation": life.occupation,
        "hobbies_and_interests": traits.comma.join(chance.sample(traits.hobbies, 3)),
        "skills_and_expertise": traits.comma.join(chance.sample(traits.skills, 2)),
        "about": traits.joint.join(
            sentence.replace("$name", called).replace("$who", sort.pronoun) for sentence in sentences
        ),
    }
