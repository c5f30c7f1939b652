"""What follows from a value that was told: a sum of digits, a season, what an occupation is. No model is asked."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from memflow.benchmarks.membench.generation import values as told
from memflow.benchmarks.membench.generation.graphs import Node
from memflow.benchmarks.membench.generation.plans import Task
from memflow.benchmarks.membench.generation.templates import fact_templates, fill


@dataclass(frozen=True)
class Processed:
    """What follows, with wrong options as far as they are computed too. `fields` are filled into the question."""

    answer: str
    wrong: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


def process(task: Task, name: str, node: Node) -> Processed:
    """What follows from an attribute of a node."""
    return _BY_ATTRIBUTE[name](task, node[name])


def season_of(month: int) -> int:
    """The season of a month from 1: winter is 0, and begins in December."""
    return month % 12 // 3


def _phone(task: Task, value: str) -> Processed:
    digits = task.chance.randint(2, 6)
    total = sum([int(each) for each in value if each.isdigit()][-digits:])
    wrong = _near(task, total, least=0)
    return Processed(str(total), wrong, {"digits": str(digits)})


def _email(task: Task, value: str) -> Processed:
    suffix = value.partition("@")[2]
    others = {node["email"].partition("@")[2] for node in task.graph.roles} - {suffix}
    return Processed(suffix, _some(task, others))


def _name(task: Task, value: str) -> Processed:
    letters = sum(each.isalnum() for each in value)
    return Processed(str(letters), _near(task, letters, least=1))


def _birthday(task: Task, value: str) -> Processed:
    seasons = fact_templates(task.language).seasons
    season = seasons[season_of(told.month_and_day_of(value)[0])]
    return Processed(season, tuple(each for each in seasons if each != season))


def _occupation(task: Task, value: str) -> Processed:
    return _described(task, value, {each.name: each.duty for each in task.vocabulary.occupations})


def _hobby(task: Task, value: str) -> Processed:
    return _described(task, value, task.vocabulary.hobbies)


def _city(task: Task, value: str) -> Processed:
    return _described(task, value, {each.name: each.known for each in task.vocabulary.cities})


def _time(task: Task, value: str) -> Processed:
    """The day that it comes to, which depends on when it is told: questions.py computes it."""
    return Processed(value)


def _scale(task: Task, value: str) -> Processed:
    people = told.people_of(value)
    half, tenth = people // 2, people // 10
    others = (people, 2 * people, half - tenth, half + tenth)
    pattern = fact_templates(task.language).people_in_figures
    wrong = _some(task, (fill(pattern, count=each) for each in others))
    return Processed(fill(pattern, count=half), wrong)


def _duration(task: Task, value: str) -> Processed:
    days = told.days_of(value)
    others = (12 * days, 10 * days, 24 * (days + 1), 24 * (days + 2))
    pattern = fact_templates(task.language).hours
    wrong = _some(task, (fill(pattern, count=each) for each in others))
    return Processed(fill(pattern, count=24 * days), wrong)


_BY_ATTRIBUTE: Mapping[str, Callable[[Task, str], Processed]] = {
    "phone": _phone,
    "email": _email,
    "name": _name,
    "birthday": _birthday,
    "occupation": _occupation,
    "hobby": _hobby,
    "hometown": _city,
    "work_location": _city,
    "location": _city,
    "time": _time,
    "scale": _scale,
    "duration": _duration,
}


def _described(task: Task, value: str, known: Mapping[str, str]) -> Processed:
    """A description from the vocabulary, beside those of others."""
    return Processed(known[value], _some(task, (told for name, told in known.items() if name != value)))


def _near(task: Task, number: int, least: int) -> tuple[str, ...]:
    return _some(task, (str(number + by) for by in (-3, -2, -1, 1, 2, 3) if number + by >= least))


def _some(task: Task, options: Iterable[str]) -> tuple[str, ...]:
    """Three of the options, or all where there are fewer."""
    held = sorted(set(options))
    return tuple(task.chance.sample(held, min(3, len(held))))
