"""Plans for questions about a stated fact (paper, section 3.3 and table 6).

simple             one attribute of an entity
conditional        an attribute of an entity that another attribute identifies; the evidence is two messages
noisy              as conditional, but small talk precedes the question
knowledge_update   an attribute that was first stated wrongly; the correction is the evidence
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from memflow.benchmarks.membench.generation.fact_sessions import (
    FACT_ATTRIBUTES,
    Fact,
    Subject,
    plan_sessions,
)
from memflow.benchmarks.membench.generation.graphs import ATTRIBUTES, SUBJECT_TYPES, Node, SubjectType
from memflow.benchmarks.membench.generation.plans import PlannedQuestion, Planner, PlanRequest, TrajectoryPlan
from memflow.benchmarks.membench.generation.templates import (
    fact_templates,
    fill,
    fill_sentence,
    with_article,
)
from memflow.benchmarks.membench.generation.twins import wrong_values

ASKABLE_ATTRIBUTES: Mapping[SubjectType, tuple[str, ...]] = ATTRIBUTES["asked"]
_IDENTIFYING_ATTRIBUTES: Mapping[SubjectType, tuple[str, ...]] = ATTRIBUTES["identifying"]
"""Attributes that identify an entity if no other one has the same value."""
_LEAKING_PAIRS = frozenset(map(frozenset, ATTRIBUTES["leaking"]["pairs"]))
"""Attribute pairs of which one may reveal the other, as two cities of a province, or both are in one message."""
_UPDATABLE_ATTRIBUTES: Mapping[SubjectType, tuple[str, ...]] = ATTRIBUTES["updatable"]
"""Attributes that may first be stated wrongly."""
_OTHER_SUBJECTS = 2
"""Number of entities of each other type in a hybrid trajectory."""


@dataclass(frozen=True)
class QuestionSubjects:
    """The entity that a question is about, and the other entities of the same type."""

    target: Subject
    others: tuple[Subject, ...]

    def describe_by(self, attribute: str, request: PlanRequest) -> str:
        """Return a phrase that identifies the target by this attribute."""
        about = fact_templates(request.language).of(self.target.sort).attributes[attribute]
        value = self.identifying_value(attribute)
        return fill(about.which, value=value, a_value=with_article(value))

    def identifying_value(self, attribute: str) -> str:
        """Return the target's value of an attribute, without a final period."""
        return self.target.node[attribute].rstrip(".。")

    def facts(self, request: PlanRequest, asked: Sequence[str]) -> list[Fact]:
        """Return the facts that messages must state so that a question can ask for these attributes.

        In participation, messages state these attributes of all entities. In observation, messages state all attributes
        of the target and these attributes of the others.
        """
        if request.scene == "participation":
            return [Fact(subject, name) for subject in (self.target, *self.others) for name in asked]
        own = [
            name for name in FACT_ATTRIBUTES[self.target.sort] if name not in self.target.reference_attribute
        ]
        found = [Fact(self.target, name) for name in own]
        found += [Fact(subject, name) for subject in self.others for name in asked]
        return found + list(self._asides(request))

    def _asides(self, request: PlanRequest) -> Iterator[Fact]:
        """Yield facts about entities of other types, for hybrid trajectories only."""
        for sort in SUBJECT_TYPES if request.scenario == "hybrid" else ():
            if sort != self.target.sort:
                nodes = request.graph.of_type(sort)
                for node in request.rng.sample(nodes, min(_OTHER_SUBJECTS, len(nodes))):
                    name = request.rng.choice([each for each in FACT_ATTRIBUTES[sort] if each != "name"])
                    yield Fact(Subject(node, sort), name)


def select_subjects(
    request: PlanRequest, sort: SubjectType, target: Node, asked: Sequence[str]
) -> QuestionSubjects:
    """Return all entities of a type. Messages refer to an entity by name, unless a stated fact is the name."""
    telling = FACT_ATTRIBUTES[sort] if request.scene == "observation" and sort == "people" else asked
    named = "name" not in telling
    others = tuple(Subject(node, sort, named) for node in request.graph.of_type(sort) if node != target)
    return QuestionSubjects(Subject(target, sort, named), others)


def subject_type_of(request: PlanRequest) -> SubjectType:
    """Return the entity type of the request's scenario; a hybrid scenario gets a random type."""
    if request.scenario == "hybrid":
        return request.rng.choice(SUBJECT_TYPES)
    return {"roles": "people"}.get(request.scenario, request.scenario)  # type: ignore[return-value]


def find_conditions(
    request: PlanRequest, sort: SubjectType, asked: Sequence[str]
) -> list[tuple[Node, str, str]]:
    """Return (entity, identifying attribute, asked attribute) triples. The identifying value is unique in the graph."""
    nodes = request.graph.of_type(sort)
    return [
        (node, by, name)
        for node, by, name in product(nodes, _IDENTIFYING_ATTRIBUTES[sort], asked)
        if by != name
        and frozenset((by, name)) not in _LEAKING_PAIRS
        and sum(other[by] == node[by] for other in nodes) == 1
    ]


def plan_simple(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan for a question about one attribute of an entity."""
    sort = subject_type_of(request)
    name = request.rng.choice(ASKABLE_ATTRIBUTES[sort])
    subjects = select_subjects(request, sort, request.rng.choice(request.graph.of_type(sort)), (name,))
    sessions = plan_sessions(request, subjects.facts(request, (name,)), (Fact(subjects.target, name),))
    return request.plan(sessions, _query(request, subjects, name))


def plan_conditional(request: PlanRequest, aside: bool = False) -> TrajectoryPlan:
    """Return a plan for a question about an attribute of an entity that another attribute identifies."""
    sort = subject_type_of(request)
    target, by, name = request.rng.choice(find_conditions(request, sort, ASKABLE_ATTRIBUTES[sort]))
    subjects = select_subjects(request, sort, target, (by, name))
    wanted = (Fact(subjects.target, by), Fact(subjects.target, name))
    sessions = plan_sessions(request, subjects.facts(request, (by, name)), wanted)
    return request.plan(sessions, _query(request, subjects, name, by, aside))


def plan_noisy(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan for a conditional question that follows small talk."""
    return plan_conditional(request, aside=True)


def plan_knowledge_update(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan of a wrong statement, its correction, and a question with the wrong value among the options."""
    sort = subject_type_of(request)
    nodes = request.graph.of_type(sort)
    name = request.rng.choice(_UPDATABLE_ATTRIBUTES[sort])
    subjects = select_subjects(request, sort, request.rng.choice(nodes), (name,))

    def stale(fact: Fact) -> Fact:
        return Fact(fact.subject, name, *wrong_values(request, fact.subject.node, name, count=1))

    wrong = wrong_values(request, subjects.target.node, name)
    asked = Fact(subjects.target, name, wrong[0])
    facts = []
    for fact in subjects.facts(request, (name,)):
        if fact == Fact(subjects.target, name):
            facts.append(asked)
        else:
            spoken = request.scene == "participation"
            facts.append(stale(fact) if spoken else fact)
    sessions = plan_sessions(request, facts, (asked,))
    return request.plan(sessions, _query(request, subjects, name, wrong=wrong))


def _query(
    request: PlanRequest,
    subjects: QuestionSubjects,
    name: str,
    by: str | None = None,
    aside: bool = False,
    wrong: Sequence[str] = (),
) -> PlannedQuestion:
    """Return the question about an attribute of the target, which is identified by name or by another attribute.

    The first of the wrong options of `wrong`, if there are any, is the value before a correction.
    """
    called = subjects.target.reference(request.language) if by is None else subjects.describe_by(by, request)
    about = fact_templates(request.language).of(subjects.target.sort)
    return PlannedQuestion(
        question=fill_sentence(about.attributes[name].asked, who=called),
        answer=subjects.target.node[name],
        wrong=tuple(wrong) or wrong_values(request, subjects.target.node, name),
        dated=name == "time",
        aside=aside,
        required_words=(subjects.target.required_words if by is None else subjects.identifying_value(by),),
        stale=wrong[0] if wrong else None,
    )


PLANNERS: Mapping[str, Planner] = {
    "simple": plan_simple,
    "conditional": plan_conditional,
    "noisy": plan_noisy,
    "knowledge_update": plan_knowledge_update,
}
"""Planners by question kind."""
