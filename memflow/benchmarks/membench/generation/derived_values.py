"""Values that are derived from an attribute without a model: a digit sum, a season, a description."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from memflow.benchmarks.membench.generation import values
from memflow.benchmarks.membench.generation.plans import PlanRequest
from memflow.benchmarks.membench.generation.templates import fact_templates, fill


@dataclass(frozen=True)
class Derivation:
    """A function that derives an answer from the value of an attribute. `fields` fill the question's template."""

    derive: Callable[[str], str]
    fields: Mapping[str, str] = field(default_factory=dict)


def derivation_of(request: PlanRequest, name: str) -> Derivation:
    """Return the derivation from an attribute. A digit sum is of a random number of digits."""
    words, templates = request.vocabulary, fact_templates(request.language)
    cities = {city.name: city.known for city in words.cities}
    if name == "phone":
        digits = request.rng.randint(2, 6)
        return Derivation(lambda value: _digit_sum(value, digits), {"digits": str(digits)})
    known: Mapping[str, Callable[[str], str]] = {
        "email": lambda value: value.partition("@")[2],
        "name": lambda value: str(sum(character.isalnum() for character in value)),
        "birthday": lambda value: templates.seasons[season_of(values.parse_birthday(value)[0])],
        "occupation": {occupation.name: occupation.duty for occupation in words.occupations}.__getitem__,
        "hobby": words.hobbies.__getitem__,
        **dict.fromkeys(("hometown", "work_location", "location"), cities.__getitem__),
        "time": str,
        "scale": lambda value: fill(templates.people_in_figures, count=values.parse_scale(value) // 2),
        "duration": lambda value: fill(templates.hours, count=24 * values.parse_duration(value)),
    }
    return Derivation(known[name])


def season_of(month: int) -> int:
    """Return the season of a month (1 to 12). Winter is 0 and starts in December."""
    return month % 12 // 3


def _digit_sum(value: str, digits: int) -> str:
    return str(sum([int(character) for character in value if character.isdigit()][-digits:]))
