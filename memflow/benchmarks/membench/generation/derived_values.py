"""Values that are derived from an attribute without a model: a digit sum, a season, a description."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from memflow.benchmarks.membench.generation import values
from memflow.benchmarks.membench.generation.graphs import Node
from memflow.benchmarks.membench.generation.plans import PlanRequest
from memflow.benchmarks.membench.generation.templates import fact_templates, fill


@dataclass(frozen=True)
class DerivedValue:
    """A derived answer with computed wrong options. `fields` are the fields of the question template."""

    answer: str
    wrong: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


def derive_value(request: PlanRequest, name: str, node: Node) -> DerivedValue:
    """Return a value that is derived from an attribute of a node."""
    return _BY_ATTRIBUTE[name](request, node[name])


def season_of(month: int) -> int:
    """Return the season of a month (1 to 12). Winter is 0 and starts in December."""
    return month % 12 // 3


def _phone(request: PlanRequest, value: str) -> DerivedValue:
    digits = request.rng.randint(2, 6)
    total = sum([int(each) for each in value if each.isdigit()][-digits:])
    wrong = _near(request, total, least=0)
    return DerivedValue(str(total), wrong, {"digits": str(digits)})


def _email(request: PlanRequest, value: str) -> DerivedValue:
    suffix = value.partition("@")[2]
    others = {node["email"].partition("@")[2] for node in request.graph.roles} - {suffix}
    return DerivedValue(suffix, _sample_options(request, others))


def _name(request: PlanRequest, value: str) -> DerivedValue:
    letters = sum(each.isalnum() for each in value)
    return DerivedValue(str(letters), _near(request, letters, least=1))


def _birthday(request: PlanRequest, value: str) -> DerivedValue:
    seasons = fact_templates(request.language).seasons
    season = seasons[season_of(values.parse_birthday(value)[0])]
    return DerivedValue(season, tuple(each for each in seasons if each != season))


def _city(request: PlanRequest, value: str) -> DerivedValue:
    return _described(request, value, {city.name: city.known for city in request.vocabulary.cities})


def _scale(request: PlanRequest, value: str) -> DerivedValue:
    people = values.parse_scale(value)
    half, tenth = people // 2, people // 10
    others = (people, 2 * people, half - tenth, half + tenth)
    pattern = fact_templates(request.language).people_in_figures
    wrong = _sample_options(request, (fill(pattern, count=other) for other in others))
    return DerivedValue(fill(pattern, count=half), wrong)


def _duration(request: PlanRequest, value: str) -> DerivedValue:
    days = values.parse_duration(value)
    others = (12 * days, 10 * days, 24 * (days + 1), 24 * (days + 2))
    pattern = fact_templates(request.language).hours
    wrong = _sample_options(request, (fill(pattern, count=other) for other in others))
    return DerivedValue(fill(pattern, count=24 * days), wrong)


_BY_ATTRIBUTE: Mapping[str, Callable[[PlanRequest, str], DerivedValue]] = {
    "phone": _phone,
    "email": _email,
    "name": _name,
    "birthday": _birthday,
    "occupation": lambda request, value: _described(
        request, value, {occupation.name: occupation.duty for occupation in request.vocabulary.occupations}
    ),
    "hobby": lambda request, value: _described(request, value, request.vocabulary.hobbies),
    "hometown": _city,
    "work_location": _city,
    "location": _city,
    "time": lambda request, value: DerivedValue(value),
    "scale": _scale,
    "duration": _duration,
}
"""Functions by attribute. The date of a `time` is resolved in questions.py."""


def _described(request: PlanRequest, value: str, known: Mapping[str, str]) -> DerivedValue:
    """Return the vocabulary's description of a value, and the descriptions of other values as wrong options."""
    return DerivedValue(
        known[value], _sample_options(request, (text for name, text in known.items() if name != value))
    )


def _near(request: PlanRequest, number: int, least: int) -> tuple[str, ...]:
    return _sample_options(
        request, (str(number + by) for by in (-3, -2, -1, 1, 2, 3) if number + by >= least)
    )


def _sample_options(request: PlanRequest, options: Iterable[str]) -> tuple[str, ...]:
    """Return up to three options, chosen at random."""
    unique = sorted(set(options))
    return tuple(request.rng.sample(unique, min(3, len(unique))))
