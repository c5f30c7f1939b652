"""Plans for questions whose answer is computed from stated facts.

comparative       Which of two entities has more of an attribute? Or: do a person and an event share a place?
aggregative       How many entities have a value, or at least a value?
post_processing   What follows from an attribute, such as a digit sum? Another attribute identifies the entity.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memflow.benchmarks.membench.generation import derived_values, values
from memflow.benchmarks.membench.generation.fact_sessions import FACT_ATTRIBUTES, Fact, Subject, plan_sessions
from memflow.benchmarks.membench.generation.factual_plans import (
    find_conditions,
    nodes_of_type,
    select_subjects,
    subject_type_of,
)
from memflow.benchmarks.membench.generation.graphs import Node, nodes_with
from memflow.benchmarks.membench.generation.plans import PlannedQuestion, Planner, PlanRequest, TrajectoryPlan
from memflow.benchmarks.membench.generation.templates import (
    CountTemplates,
    SubjectType,
    fact_templates,
    fill_sentence,
)

_MEASURES: Mapping[str, Callable[[str], Any]] = {
    "age": values.parse_age,
    "height": values.parse_height,
    "birthday": values.parse_birthday,
    "scale": values.parse_scale,
    "duration": values.parse_duration,
}
"""Parsers of ordered attributes. Educations are ordered by the vocabulary."""
OPTIONS = 4
_LESSER_IS_ASKED = ("birthday",)
"""Attributes whose lesser value is asked for."""


def plan_comparative(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan for a question about which of two entities has more of an attribute. All facts are stated."""
    if request.scenario == "hybrid":
        return _plan_shared_place(request)
    sort = subject_type_of(request)
    words = fact_templates(request.language)
    name = request.rng.choice(list(words.of(sort).compared))
    one, other, *more = request.rng.sample(
        nodes_of_type(request.graph, sort), len(nodes_of_type(request.graph, sort))
    )
    first, second = (_measure(request, name, node) for node in (one, other))
    ahead = first < second if name in _LESSER_IS_ASKED else first > second
    right = words.both if first == second else (one if ahead else other).name
    options = [one.name, other.name, words.both, *(node.name for node in more[:1])]
    wanted = tuple(Fact(Subject(node, sort), name) for node in (one, other))
    sessions, evidence = plan_sessions(request, _facts_of_all(request, [(sort, name)]), wanted)
    question = fill_sentence(words.of(sort).compared[name], one=one.name, other=other.name)
    wrong = tuple(option for option in options if option != right)
    return request.plan(
        sessions, PlannedQuestion(question, right, evidence, wrong, required_words=(one.name, other.name))
    )


def _plan_shared_place(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan for a question about whether a person and an event share a place. Both cases are equally likely."""
    mixed = fact_templates(request.language).mixed
    name = request.rng.choice(list(mixed.compared))
    meetings = [(role, other) for role in request.graph.roles for other in request.graph.events]
    alike = [pair for pair in meetings if pair[0][name] == pair[1]["location"]]
    apart = [pair for pair in meetings if pair not in alike]
    one, other = request.rng.choice(request.rng.choice([each for each in (alike, apart) if each]))
    here, there = one[name], other["location"]
    elsewhere = request.rng.choice(
        [city.name for city in request.vocabulary.cities if city.name not in (here, there)]
    )

    def differ(first: str, second: str) -> str:
        return fill_sentence(mixed.different, value=first, other=second)

    def agree(place: str) -> str:
        return fill_sentence(mixed.same, value=place)

    if here == there:
        right, wrong = agree(here), (agree(elsewhere), differ(here, elsewhere), differ(elsewhere, here))
    else:
        right, wrong = differ(here, there), (agree(here), agree(there), differ(there, here))
    wanted = (Fact(Subject(one, "people"), name), Fact(Subject(other, "events"), "location"))
    sessions, evidence = plan_sessions(
        request, _facts_of_all(request, [("people", name), ("events", "location")]), wanted
    )
    question = fill_sentence(mixed.compared[name], one=one.name, other=other.name)
    return request.plan(
        sessions, PlannedQuestion(question, right, evidence, wrong, required_words=(one.name, other.name))
    )


def plan_aggregative(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan for a question about how many entities have a value, or at least a value.

    A value that all entities satisfy is used only if no other value exists.
    """
    words = fact_templates(request.language)
    if request.scenario == "hybrid":
        asked: list[tuple[SubjectType, str]] = [("people", "hometown"), ("events", "location")]
        told = [node[name] for sort, name in asked for node in nodes_of_type(request.graph, sort)]
        value = request.rng.choice([each for each in told if told.count(each) < len(told)] or told)
        count = told.count(value)
        return _plan_count(request, asked, words.mixed.counted, value, count, words.mixed.counts)
    sort = subject_type_of(request)
    about, nodes = words.of(sort), nodes_of_type(request.graph, sort)
    bounds = [(name, node, _count_of(request, nodes, name, node)) for name in about.counted for node in nodes]
    telling = [bound for bound in bounds if bound[2] < len(nodes)] or bounds
    asked_name = request.rng.choice(sorted({name for name, _, _ in telling}))
    name, bound, count = request.rng.choice([each for each in telling if each[0] == asked_name])
    value = bound[name]
    if name == "birthday":
        value = words.months[values.parse_birthday(value)[0] - 1]
    return _plan_count(request, [(sort, name)], about.counted[name], value, count, about.counts)


def _count_of(request: PlanRequest, nodes: Sequence[Node], name: str, bound: Node) -> int:
    """Return how many entities have the same value as `bound`; for ordered attributes, at least this value."""
    if name == "birthday":
        month = values.parse_birthday(bound[name])[0]
        return sum(values.parse_birthday(node[name])[0] >= month for node in nodes)
    if name in _MEASURES:
        return sum(_measure(request, name, node) >= _measure(request, name, bound) for node in nodes)
    return len(nodes_with(nodes, **{name: bound[name]}))


def _plan_count(
    request: PlanRequest,
    asked: Sequence[tuple[SubjectType, str]],
    pattern: str,
    value: str,
    count: int,
    counts: CountTemplates,
) -> TrajectoryPlan:
    """Return a plan for a counting question, with wrong options near the correct count."""
    facts = _facts_of_all(request, asked)
    wanted = [fact for fact in facts if (fact.subject.sort, fact.attribute) in asked]
    sessions, evidence = plan_sessions(request, facts, wanted)
    possible = range(max(len(wanted), OPTIONS - 1) + 1)
    near = sorted((each for each in possible if each != count), key=lambda each: abs(each - count))
    wrong = tuple(counts.say(each) for each in request.rng.sample(near[:5], OPTIONS - 1))
    question = fill_sentence(pattern, value=value)
    return request.plan(
        sessions, PlannedQuestion(question, counts.say(count), evidence, wrong, required_words=(value,))
    )


def _facts_of_all(request: PlanRequest, asked: Sequence[tuple[SubjectType, str]]) -> list[Fact]:
    """Return facts that state these attributes of all entities. In observation, each entity gets one more attribute."""
    found = []
    for sort, name in asked:
        for node in nodes_of_type(request.graph, sort):
            subject = Subject(node, sort)
            found.append(Fact(subject, name))
            if request.scene == "observation":
                others = [
                    each for each in FACT_ATTRIBUTES[sort] if each not in (name, subject.reference_attribute)
                ]
                found.append(Fact(subject, request.rng.choice(others)))
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
    made = derived_values.derive_value(request, name, target)
    wanted = (Fact(subjects.target, by), Fact(subjects.target, name))
    sessions, evidence = plan_sessions(request, subjects.facts(request, (by, name)), wanted)
    question = fill_sentence(about.processed[name], who=subjects.describe_by(by, request), **made.fields)
    return request.plan(
        sessions,
        PlannedQuestion(
            question,
            made.answer,
            evidence,
            made.wrong,
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
