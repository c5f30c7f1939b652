"""Plans that ask for what follows from what was told, and is computed: comparative, aggregative and post_processing.

comparative       which of two has more of an attribute; of a person and an event, whether they share a place
aggregative       how many of all have so much of an attribute, or a value of it
post_processing   what follows from an attribute of one who is named by another: processing.py
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memflow.benchmarks.membench.generation import derived_values as processing
from memflow.benchmarks.membench.generation import values
from memflow.benchmarks.membench.generation.fact_sessions import TOLD, Fact, Subject, told
from memflow.benchmarks.membench.generation.factual_plans import cast, conditions, nodes, sort_of
from memflow.benchmarks.membench.generation.graphs import Node, having
from memflow.benchmarks.membench.generation.plans import Plan, Planner, Query, Task
from memflow.benchmarks.membench.generation.templates import (
    CountTemplates,
    SubjectType,
    fact_templates,
    fill_sentence,
)

_MEASURES: Mapping[str, Callable[[str], Any]] = {
    "age": values.years_of,
    "height": values.centimetres_of,
    "birthday": values.month_and_day_of,
    "scale": values.people_of,
    "duration": values.days_of,
}
"""What can be put in an order, by the value as it is told; an education, by its place in the vocabulary."""
_FEWER = ("birthday",)
"""Of these, the lesser is asked for: the earlier."""


def comparative(task: Task) -> Plan:
    """Which of two has more of an attribute. All of them are told of."""
    if task.scenario == "hybrid":
        return _shared(task)
    sort = sort_of(task)
    words = fact_templates(task.language)
    name = task.chance.choice(list(words.of(sort).compared))
    one, other, *more = task.chance.sample(nodes(task.graph, sort), len(nodes(task.graph, sort)))
    first, second = (_measure(task, name, node) for node in (one, other))
    ahead = first < second if name in _FEWER else first > second
    right = words.both if first == second else (one if ahead else other).name
    options = [one.name, other.name, words.both, *(node.name for node in more[:1])]
    wanted = tuple(Fact(Subject(node, sort), name) for node in (one, other))
    talks, pairs = told(task, _of_all(task, [(sort, name)]), wanted)
    question = fill_sentence(words.of(sort).compared[name], one=one.name, other=other.name)
    wrong = tuple(option for option in options if option != right)
    return task.plan(talks, Query(question, right, pairs, wrong, keeps=(one.name, other.name)))


def _shared(task: Task) -> Plan:
    """Whether a person's place and an event's are the same; as often as not they are, where any are."""
    mixed = fact_templates(task.language).mixed
    name = task.chance.choice(list(mixed.compared))
    meetings = [(one, other) for one in task.graph.roles for other in task.graph.events]
    alike = [pair for pair in meetings if pair[0][name] == pair[1]["location"]]
    apart = [pair for pair in meetings if pair not in alike]
    one, other = task.chance.choice(task.chance.choice([each for each in (alike, apart) if each]))
    here, there = one[name], other["location"]
    elsewhere = task.chance.choice(
        [city.name for city in task.vocabulary.cities if city.name not in (here, there)]
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
    talks, pairs = told(task, _of_all(task, [("people", name), ("events", "location")]), wanted)
    question = fill_sentence(mixed.compared[name], one=one.name, other=other.name)
    return task.plan(talks, Query(question, right, pairs, wrong, keeps=(one.name, other.name)))


def aggregative(task: Task) -> Plan:
    """How many of all those told of have a value, or at least as much: all of them are evidence."""
    words = fact_templates(task.language)
    if task.scenario == "hybrid":
        asked: list[tuple[SubjectType, str]] = [("people", "hometown"), ("events", "location")]
        value = task.chance.choice([node[name] for sort, name in asked for node in nodes(task.graph, sort)])
        count = sum(len(having(nodes(task.graph, sort), **{name: value})) for sort, name in asked)
        return _counted(task, asked, words.mixed.counted, value, count, words.mixed.counts)
    sort = sort_of(task)
    about = words.of(sort)
    name = task.chance.choice(list(about.counted))
    held = nodes(task.graph, sort)
    bound = task.chance.choice(held)
    value = bound[name]
    if name == "birthday":
        month = values.month_and_day_of(value)[0]
        value = words.months[month - 1]
        count = sum(values.month_and_day_of(node[name])[0] >= month for node in held)
    elif name in _MEASURES:
        count = sum(_measure(task, name, node) >= _measure(task, name, bound) for node in held)
    else:
        count = len(having(held, **{name: value}))
    return _counted(task, [(sort, name)], about.counted[name], value, count, about.counts)


def _counted(
    task: Task,
    asked: Sequence[tuple[SubjectType, str]],
    pattern: str,
    value: str,
    count: int,
    counts: CountTemplates,
) -> Plan:
    """The plan that asks how many there are. Wrong counts are near it."""
    facts = _of_all(task, asked)
    wanted = [fact for fact in facts if (fact.subject.sort, fact.attribute) in asked]
    talks, pairs = told(task, facts, wanted)
    near = sorted((each for each in range(count + 5) if each != count), key=lambda each: abs(each - count))
    wrong = tuple(counts.say(each) for each in task.chance.sample(near[:5], 3))
    question = fill_sentence(pattern, value=value)
    return task.plan(talks, Query(question, counts.say(count), pairs, wrong, keeps=(value,)))


def _of_all(task: Task, asked: Sequence[tuple[SubjectType, str]]) -> list[Fact]:
    """These attributes of all of these sorts; observed, another one of each besides."""
    found = []
    for sort, name in asked:
        for node in nodes(task.graph, sort):
            subject = Subject(node, sort)
            found.append(Fact(subject, name))
            if task.scene == "observation":
                others = [each for each in TOLD[sort] if each not in (name, subject.said)]
                found.append(Fact(subject, task.chance.choice(others)))
    return found


def _measure(task: Task, name: str, node: Node) -> Any:
    """How much of an attribute a node has."""
    if name == "education":
        return task.vocabulary.educations.index(node[name])
    return _MEASURES[name](node[name])


def post_processing(task: Task) -> Plan:
    """What follows from an attribute of one who is named by another."""
    sort = sort_of(task)
    about = fact_templates(task.language).of(sort)
    target, by, name = task.chance.choice(conditions(task, sort, list(about.processed)))
    who = cast(task, sort, target, (by, name))
    made = processing.process(task, name, target)
    wanted = (Fact(who.target, by), Fact(who.target, name))
    talks, pairs = told(task, who.facts(task, (by, name)), wanted)
    question = fill_sentence(about.processed[name], who=who.named_by(by, task), **made.fields)
    return task.plan(
        talks,
        Query(question, made.answer, pairs, made.wrong, dated=name == "time", keeps=(who.by(by),)),
    )


PLANNERS: Mapping[str, Planner] = {
    "comparative": comparative,
    "aggregative": aggregative,
    "post_processing": post_processing,
}
"""The planners of these kinds."""
