"""Plans that ask for what was told: simple, conditional, noisy and knowledge_update (paper, section 3.3 and table 6).

simple             one attribute of somebody or something
conditional        the same of one who is named by another attribute: two messages are needed
noisy              conditional, and put in passing
knowledge_update   an attribute that was told wrongly before; the evidence is what corrected it, in both scenes
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from memflow.benchmarks.membench.generation.fact_sessions import PERSON, TOLD, Fact, Pairs, Subject, told
from memflow.benchmarks.membench.generation.graphs import Graph, Node, having
from memflow.benchmarks.membench.generation.plans import Plan, Planner, Query, Task
from memflow.benchmarks.membench.generation.templates import (
    SUBJECT_TYPES,
    SubjectType,
    fact_templates,
    fill,
    fill_sentence,
)

ASKED: Mapping[SubjectType, tuple[str, ...]] = {
    "people": PERSON,
    "events": ("location", "time", "scale", "duration"),
    "items": ("name", "item_type", "review"),
    "places": ("name", "place_type", "review"),
}
"""What is asked for."""
_NAMED_BY: Mapping[SubjectType, tuple[str, ...]] = {
    "people": PERSON,
    "events": ("event_type", "location", "scale", "duration"),
    "items": ("name", "item_type", "review"),
    "places": ("name", "place_type", "review"),
}
"""What one is named by of whom something is asked, where nobody else told of has the same."""
_LEAKING = tuple(
    map(
        frozenset,
        (
            ("name", "email"),
            ("occupation", "position"),
            ("occupation", "company"),
            ("work_location", "company"),
            ("work_location", "phone"),
            ("company", "email"),
            ("name", "item_type"),
            ("name", "place_type"),
        ),
    )
)
"""Attributes of which one may tell the other, or which are told in one message: the question would need but one."""
_UPDATED: Mapping[SubjectType, tuple[str, ...]] = {
    "people": tuple(name for name in PERSON if name not in ("name", "email")),
    "events": ("location", "scale", "duration"),
}
"""What is told wrongly before."""
_ASIDES = 2
"""Of how many other things of each sort something is told besides, in a hybrid trajectory."""


def nodes(graph: Graph, sort: SubjectType) -> tuple[Node, ...]:
    """The people, events, items or places of a life, without the user."""
    return {"people": graph.roles, "events": graph.events, "items": graph.items, "places": graph.places}[sort]


@dataclass(frozen=True)
class Cast:
    """Whom or what a trajectory asks about, and the others of its sort that it tells of."""

    target: Subject
    others: tuple[Subject, ...]

    def named_by(self, attribute: str, task: Task) -> str:
        """The target, named by an attribute."""
        about = fact_templates(task.language).of(self.target.sort).attributes[attribute]
        return fill(about.which, value=self.by(attribute))

    def by(self, attribute: str) -> str:
        """The value of an attribute that the target is named by, without the stop of a sentence."""
        return self.target.node[attribute].rstrip(".。")

    def facts(self, task: Task, asked: Sequence[str]) -> list[Fact]:
        """What is told so that these attributes can be asked for.

        Where two speak, these of everybody. Observed, all of the target and these of the others.
        """
        if task.scene == "participation":
            return [Fact(subject, name) for subject in (self.target, *self.others) for name in asked]
        own = [name for name in TOLD[self.target.sort] if name not in self.target.said]
        found = [Fact(self.target, name) for name in own]
        found += [Fact(subject, name) for subject in self.others for name in asked]
        return found + list(self._asides(task))

    def _asides(self, task: Task) -> Iterator[Fact]:
        """In a hybrid trajectory, something of things of the other sorts."""
        for sort in SUBJECT_TYPES if task.scenario == "hybrid" else ():
            if sort != self.target.sort:
                held = nodes(task.graph, sort)
                for node in task.chance.sample(held, min(_ASIDES, len(held))):
                    name = task.chance.choice([each for each in TOLD[sort] if each != "name"])
                    yield Fact(Subject(node, sort), name)


def cast(task: Task, sort: SubjectType, target: Node, asked: Sequence[str]) -> Cast:
    """Everybody of a sort, by name unless that is told of them, with one to ask about."""
    telling = TOLD[sort] if task.scene == "observation" and sort == "people" else asked
    named = "name" not in telling
    others = tuple(Subject(node, sort, named) for node in nodes(task.graph, sort) if node != target)
    return Cast(Subject(target, sort, named), others)


def sort_of(task: Task) -> SubjectType:
    """What sort a trajectory asks about: its scenario's, or any where that is hybrid."""
    if task.scenario == "hybrid":
        return task.chance.choice(SUBJECT_TYPES)
    return {"roles": "people"}.get(task.scenario, task.scenario)  # type: ignore[return-value]


def conditions(task: Task, sort: SubjectType, asked: Sequence[str]) -> list[tuple[Node, str, str]]:
    """Who can be named by which attribute to ask for which other: nobody else of the sort has the same of it."""
    held = nodes(task.graph, sort)
    return [
        (node, by, name)
        for node, by, name in product(held, _NAMED_BY[sort], asked)
        if by != name and frozenset((by, name)) not in _LEAKING and len(having(held, **{by: node[by]})) == 1
    ]


def simple(task: Task) -> Plan:
    """One attribute of somebody or something is asked for."""
    sort = sort_of(task)
    name = task.chance.choice(ASKED[sort])
    who = cast(task, sort, task.chance.choice(nodes(task.graph, sort)), (name,))
    talks, pairs = told(task, who.facts(task, (name,)), (Fact(who.target, name),))
    return task.plan(talks, _query(task, who, name, pairs))


def conditional(task: Task, aside: bool = False) -> Plan:
    """An attribute is asked for of one who is named by another."""
    sort = sort_of(task)
    target, by, name = task.chance.choice(conditions(task, sort, ASKED[sort]))
    who = cast(task, sort, target, (by, name))
    wanted = (Fact(who.target, by), Fact(who.target, name))
    talks, pairs = told(task, who.facts(task, (by, name)), wanted)
    return task.plan(talks, _query(task, who, name, pairs, by, aside))


def noisy(task: Task) -> Plan:
    """The same, put in passing behind talk of something else."""
    return conditional(task, aside=True)


def knowledge_update(task: Task) -> Plan:
    """An attribute is told wrongly, then corrected; the wrong value is among the options."""
    sort = sort_of(task)
    held = nodes(task.graph, sort)
    name = task.chance.choice([each for each in _UPDATED[sort] if len({node[each] for node in held}) > 1])
    who = cast(task, sort, task.chance.choice(held), (name,))

    def stale(fact: Fact) -> Fact:
        values = sorted({node[name] for node in held} - {fact.value})
        return Fact(fact.subject, name, task.chance.choice(values))

    asked = stale(Fact(who.target, name))
    facts = []
    for fact in who.facts(task, (name,)):
        if fact == Fact(who.target, name):
            facts.append(asked)
        else:
            spoken = task.scene == "participation"
            facts.append(stale(fact) if spoken else fact)
    talks, pairs = told(task, facts, (asked,))
    return task.plan(talks, _query(task, who, name, pairs, wrong=(asked.stale or "",)))


def _query(
    task: Task,
    who: Cast,
    name: str,
    pairs: Pairs,
    by: str | None = None,
    aside: bool = False,
    wrong: tuple[str, ...] = (),
) -> Query:
    """The question for an attribute of the target, who is called by its name or by another attribute."""
    called = who.target.who(task.language) if by is None else who.named_by(by, task)
    about = fact_templates(task.language).of(who.target.sort)
    return Query(
        question=fill_sentence(about.attributes[name].asked, who=called),
        answer=who.target.node[name],
        evidence=pairs,
        wrong=wrong,
        dated=name == "time",
        aside=aside,
        keeps=(who.target.keeps if by is None else who.by(by),),
    )


PLANNERS: Mapping[str, Planner] = {
    "simple": simple,
    "conditional": conditional,
    "noisy": noisy,
    "knowledge_update": knowledge_update,
}
"""The planners of these kinds."""
