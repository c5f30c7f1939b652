"""Plans for questions whose answer is computed from stated facts.

comparative       Which of two entities has more of an attribute, and how much? Do a person and an event share a place?
aggregative       How many entities have a value, or at least a value?
post_processing   What follows from an attribute, such as a digit sum? Another attribute identifies the entity.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import permutations
from typing import Any

from memflow.benchmarks.membench.generation import values
from memflow.benchmarks.membench.generation.derived_values import derivation_of
from memflow.benchmarks.membench.generation.fact_sessions import FACT_ATTRIBUTES, Fact, Subject, plan_sessions
from memflow.benchmarks.membench.generation.factual_plans import (
    find_conditions,
    select_subjects,
    subject_type_of,
)
from memflow.benchmarks.membench.generation.graphs import Node, SubjectType
from memflow.benchmarks.membench.generation.plans import PlannedQuestion, Planner, PlanRequest, TrajectoryPlan
from memflow.benchmarks.membench.generation.templates import fact_templates, fill, fill_sentence
from memflow.benchmarks.membench.generation.twins import twins, wrong_values
from memflow.benchmarks.membench.generation.vocabulary import OPTIONS
from memflow.errors import BadInput

_MEASURES: Mapping[str, Callable[[str], Any]] = {
    "age": values.parse_size,
    "height": values.parse_size,
    "birthday": values.parse_birthday,
    "scale": values.parse_scale,
    "duration": values.parse_duration,
}
"""Parsers of ordered attributes. Educations are ordered by the vocabulary."""
_LESSER_IS_ASKED = ("birthday",)
"""Attributes whose lesser value is asked for."""


def plan_comparative(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan for a question about which of two entities has more of an attribute, and how much.

    All facts are stated. Two options have the value in the lead, two the value that leads between twins of both
    entities. Raises BadInput if all entities are alike.
    """
    if request.scenario == "hybrid":
        return _plan_shared_place(request)
    sort = subject_type_of(request)
    words = fact_templates(request.language)
    pairs = [
        (name, one, other)
        for name in words.of(sort).compared
        for one, other in permutations(request.graph.of_type(sort), 2)
        if _measure(request, name, one) != _measure(request, name, other)
        and (name != "height" or one["gender"] == other["gender"])
    ]
    if not pairs:
        raise BadInput(
            f"the {sort} of user {request.graph.user_id} have too few different values; raise the "
            f"parameter `{request.scenario}`"
        )
    asked = request.rng.choice(sorted({name for name, _, _ in pairs}))
    name, one, other = request.rng.choice([pair for pair in pairs if pair[0] == asked])

    def lead(*nodes: Node) -> Node:
        return (min if name in _LESSER_IS_ASKED else max)(
            nodes, key=lambda node: _measure(request, name, node)
        )

    right = lead(one, other)
    wrong_value = next(
        value
        for first, second in zip(twins(request, one), twins(request, other), strict=True)
        for value in [lead(first, second)[name]]
        if value != right[name]
    )
    options = [
        fill(words.ahead, name=node.name, value=value)
        for node in (right, one if right is other else other)
        for value in (right[name], wrong_value)
    ]
    wanted = tuple(Fact(Subject(node, sort), name) for node in (one, other))
    facts = [Fact(Subject(node, sort), name) for node in request.graph.of_type(sort)]
    sessions = plan_sessions(request, _with_further_facts(request, facts), wanted)
    question = fill_sentence(words.of(sort).compared[name], one=one.name, other=other.name)
    return request.plan(
        sessions,
        PlannedQuestion(question, options[0], tuple(options[1:]), required_words=(one.name, other.name)),
    )


def _plan_shared_place(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan for a question about whether a person and an event share a place. Both cases are equally likely.

    Both are in big cities, as nearly all people work and nearly all events take place there.
    """
    mixed = fact_templates(request.language).mixed
    name = request.rng.choice(list(mixed.compared))
    big = [city.name for city in request.vocabulary.cities if city.big]
    meetings = [
        (role, other) for role in request.graph.of_type("people") for other in request.graph.of_type("events")
    ]
    meetings = [pair for pair in meetings if pair[1]["location"] in big] or meetings
    alike = [pair for pair in meetings if pair[0][name] == pair[1]["location"]]
    apart = [pair for pair in meetings if pair not in alike]
    one, other = request.rng.choice(request.rng.choice([pairs for pairs in (alike, apart) if pairs]))
    here, there = one[name], other["location"]
    elsewhere = request.rng.choice([city for city in big if city not in (here, there)])

    def differ(first: str, second: str) -> str:
        return fill_sentence(mixed.different, value=first, other=second)

    def agree(place: str) -> str:
        return fill_sentence(mixed.same, value=place)

    if here == there:
        right, wrong = agree(here), (agree(elsewhere), differ(here, elsewhere), differ(elsewhere, here))
    else:
        right, wrong = differ(here, there), (agree(here), agree(there), differ(there, here))
    wanted = (Fact(Subject(one, "people"), name), Fact(Subject(other, "events"), "location"))
    facts = [Fact(Subject(role, "people"), name) for role in request.graph.of_type("people")]
    facts += [Fact(Subject(event, "events"), "location") for event in request.graph.of_type("events")]
    sessions = plan_sessions(request, _with_further_facts(request, facts), wanted)
    question = fill_sentence(mixed.compared[name], one=one.name, other=other.name)
    return request.plan(
        sessions, PlannedQuestion(question, right, wrong, required_words=(one.name, other.name))
    )


def plan_aggregative(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan for a question about how many entities have a value, or at least a value.

    The options are successive numbers, and the count is drawn from them. A count of entities with at least a value
    depends on the value in the question, any other count on how many of the entities with the value are told about.
    """
    words = fact_templates(request.language)
    if request.scenario == "hybrid":
        asked: list[tuple[SubjectType, str]] = [("people", "hometown"), ("events", "location")]
        pattern, counts = words.mixed.counted, words.mixed.counts
    else:
        sort = subject_type_of(request)
        name = request.rng.choice(list(words.of(sort).counted))
        asked, pattern, counts = [(sort, name)], words.of(sort).counted[name], words.of(sort).counts
    facts = [Fact(Subject(node, sort), name) for sort, name in asked for node in request.graph.of_type(sort)]
    ordered = len(asked) == 1 and name in _MEASURES
    satisfying = {
        bound: [fact for fact in facts if (_bound(fact) >= bound if ordered else fact.value == bound)]
        for bound in sorted({_bound(fact) if ordered else fact.value for fact in facts})
    }
    if ordered:
        possible = {len(group): bound for bound, group in satisfying.items()}
        options = _successive_numbers(request, possible)
        count = request.rng.choice([number for number in options if number in possible])
        bound = possible[count]
        value = next(fact.value for fact in satisfying[bound] if _bound(fact) == bound)
        if name == "birthday":
            value = words.months[values.parse_birthday(value)[0] - 1]
    else:
        most = min(OPTIONS, max(map(len, satisfying.values())))
        value = request.rng.choice([bound for bound, group in satisfying.items() if len(group) >= most])
        holders = satisfying[value]
        options = _successive_numbers(request, range(len(holders) == len(facts), len(holders) + 1))
        count = request.rng.choice([number for number in options if number <= len(holders)])
        silent = request.rng.sample(holders, len(holders) - count)
        facts = [fact for fact in facts if fact not in silent]
    sessions = plan_sessions(request, _with_further_facts(request, facts), facts)
    wrong = tuple(counts.say(number) for number in options if number != count)
    question = fill_sentence(pattern, value=value)
    return request.plan(
        sessions, PlannedQuestion(question, counts.say(count), wrong, required_words=(value,))
    )


def _bound(fact: Fact) -> Any:
    """Return the value of a fact with an order. A birthday is compared by its month."""
    value = _MEASURES[fact.attribute](fact.value)
    return value[0] if fact.attribute == "birthday" else value


def _successive_numbers(request: PlanRequest, possible: Collection[int]) -> range:
    """Return the options of a counting question, of which at least one is a possible count."""
    starts = range(min(possible), max(possible) - OPTIONS + 2) or [0]
    start = request.rng.choice(
        [start for start in starts if any(start <= count < start + OPTIONS for count in possible)]
    )
    return range(start, start + OPTIONS)


def _with_further_facts(request: PlanRequest, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts. In observation, each entity gets one more attribute."""
    found = []
    for fact in facts:
        found.append(fact)
        if request.scene == "observation":
            stated = (fact.attribute, fact.subject.reference_attribute)
            others = [name for name in FACT_ATTRIBUTES[fact.subject.sort] if name not in stated]
            found.append(Fact(fact.subject, request.rng.choice(others)))
    return found


def _measure(request: PlanRequest, name: str, node: Node) -> Any:
    """Return the value of an attribute as a comparable number."""
    if name == "education":
        return request.vocabulary.educations.index(node[name])
    return _MEASURES[name](node[name])


def plan_post_processing(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan for a question about a value derived from an attribute of an identified entity."""
    sort = subject_type_of(request)
    about = fact_templates(request.language).of(sort)
    target, by, name = request.rng.choice(find_conditions(request, sort, list(about.processed)))
    subjects = select_subjects(request, sort, target, (by, name))
    made = derivation_of(request, name)
    wanted = (Fact(subjects.target, by), Fact(subjects.target, name))
    sessions = plan_sessions(request, subjects.facts(request, (by, name)), wanted)
    question = fill_sentence(about.processed[name], who=subjects.describe_by(by, request), **made.fields)
    return request.plan(
        sessions,
        PlannedQuestion(
            question,
            made.derive(target[name]),
            wrong_values(request, target, name, made.derive),
            dated=name == "time",
            required_words=(subjects.identifying_value(by),),
        ),
    )


PLANNERS: Mapping[str, Planner] = {
    "comparative": plan_comparative,
    "aggregative": plan_aggregative,
    "post_processing": plan_post_processing,
}
"""Planners by question kind."""
