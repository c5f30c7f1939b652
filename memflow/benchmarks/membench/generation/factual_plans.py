"""Plans that ask for what was told: simple, conditional, noisy and knowledge_update (paper, section 3.3 and table 6).

simple             one attribute of somebody or something
conditional        the same of one who is named by another attribute: two messages are needed
noisy              conditional, and put in passing
knowledge_update   an attribute that was told wrongly before; the evidence is what corrected it, in both scenes
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from memflow.benchmarks.membench.generation.fact_sessions import (
    FACT_ATTRIBUTES,
    PERSON_FACTS,
    EvidencePositions,
    Fact,
    Subject,
    plan_sessions,
)
from memflow.benchmarks.membench.generation.graphs import Graph, Node, nodes_with
from memflow.benchmarks.membench.generation.plans import PlannedQuestion, Planner, PlanRequest, TrajectoryPlan
from memflow.benchmarks.membench.generation.templates import (
    SUBJECT_TYPES,
    SubjectType,
    fact_templates,
    fill,
    fill_sentence,
)

ASKABLE_ATTRIBUTES: Mapping[SubjectType, tuple[str, ...]] = {
    "people": PERSON_FACTS,
    "events": ("location", "time", "scale", "duration"),
    "items": ("name", "item_type", "review"),
    "places": ("name", "place_type", "review"),
}
"""What is asked for."""
_IDENTIFYING_ATTRIBUTES: Mapping[SubjectType, tuple[str, ...]] = {
    "people": PERSON_FACTS,
    "events": ("event_type", "location", "scale", "duration"),
    "items": ("name", "item_type", "review"),
    "places": ("name", "place_type", "review"),
}
"""What one is named by of whom something is asked, where nobody else told of has the same."""
_LEAKING_PAIRS = tuple(
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
_UPDATABLE_ATTRIBUTES: Mapping[SubjectType, tuple[str, ...]] = {
    "people": tuple(name for name in PERSON_FACTS if name not in ("name", "email")),
    "events": ("location", "scale", "duration"),
}
"""What is told wrongly before."""
_OTHER_SUBJECTS = 2
"""Of how many other things of each sort something is told besides, in a hybrid trajectory."""


def nodes_of_type(graph: Graph, sort: SubjectType) -> tuple[Node, ...]:
    """The people, events, items or places of a life, without the user."""
    return {"people": graph.roles, "events": graph.events, "items": graph.items, "places": graph.places}[sort]


@dataclass(frozen=True)
class QuestionSubjects:
    """Whom or what a trajectory asks about, and the others of its sort that it tells of."""

    target: Subject
    others: tuple[Subject, ...]

    def named_by(self, attribute: str, request: PlanRequest) -> str:
        """The target, named by an attribute."""
        about = fact_templates(request.language).of(self.target.sort).attributes[attribute]
        return fill(about.which, value=self.by(attribute))

    def by(self, attribute: str) -> str:
        """The value of an attribute that the target is named by, without the stop of a sentence."""
        return self.target.node[attribute].rstrip(".。")

    def facts(self, request: PlanRequest, asked: Sequence[str]) -> list[Fact]:
        """What is told so that these attributes can be asked for.

        Where two speak, these of everybody. Observed, all of the target and these of the others.
        """
        if request.scene == "participation":
            return [Fact(subject, name) for subject in (self.target, *self.others) for name in asked]
        own = [name for name in FACT_ATTRIBUTES[self.target.sort] if name not in self.target.said]
        found = [Fact(self.target, name) for name in own]
        found += [Fact(subject, name) for subject in self.others for name in asked]
        return found + list(self._asides(request))

    def _asides(self, request: PlanRequest) -> Iterator[Fact]:
        """In a hybrid trajectory, something of things of the other sorts."""
        for sort in SUBJECT_TYPES if request.scenario == "hybrid" else ():
            if sort != self.target.sort:
                held = nodes_of_type(request.graph, sort)
                for node in request.rng.sample(held, min(_OTHER_SUBJECTS, len(held))):
                    name = request.rng.choice([each for each in FACT_ATTRIBUTES[sort] if each != "name"])
                    yield Fact(Subject(node, sort), name)


def select_subjects(
    request: PlanRequest, sort: SubjectType, target: Node, asked: Sequence[str]
) -> QuestionSubjects:
    """Everybody of a sort, by name unless that is told of them, with one to ask about."""
    telling = FACT_ATTRIBUTES[sort] if request.scene == "observation" and sort == "people" else asked
    named = "name" not in telling
    others = tuple(
        Subject(node, sort, named) for node in nodes_of_type(request.graph, sort) if node != target
    )
    return QuestionSubjects(Subject(target, sort, named), others)


def subject_type_of(request: PlanRequest) -> SubjectType:
    """What sort a trajectory asks about: its scenario's, or any where that is hybrid."""
    if request.scenario == "hybrid":
        return request.rng.choice(SUBJECT_TYPES)
    return {"roles": "people"}.get(request.scenario, request.scenario)  # type: ignore[return-value]


def find_conditions(
    request: PlanRequest, sort: SubjectType, asked: Sequence[str]
) -> list[tuple[Node, str, str]]:
    """Who can be named by which attribute to ask for which other: nobody else of the sort has the same of it."""
    held = nodes_of_type(request.graph, sort)
    return [
        (node, by, name)
        for node, by, name in product(held, _IDENTIFYING_ATTRIBUTES[sort], asked)
        if by != name
        and frozenset((by, name)) not in _LEAKING_PAIRS
        and len(nodes_with(held, **{by: node[by]})) == 1
    ]


def plan_simple(request: PlanRequest) -> TrajectoryPlan:
    """One attribute of somebody or something is asked for."""
    sort = subject_type_of(request)
    name = request.rng.choice(ASKABLE_ATTRIBUTES[sort])
    who = select_subjects(request, sort, request.rng.choice(nodes_of_type(request.graph, sort)), (name,))
    sessions, pairs = plan_sessions(request, who.facts(request, (name,)), (Fact(who.target, name),))
    return request.plan(sessions, _query(request, who, name, pairs))


def plan_conditional(request: PlanRequest, aside: bool = False) -> TrajectoryPlan:
    """An attribute is asked for of one who is named by another."""
    sort = subject_type_of(request)
    target, by, name = request.rng.choice(find_conditions(request, sort, ASKABLE_ATTRIBUTES[sort]))
    who = select_subjects(request, sort, target, (by, name))
    wanted = (Fact(who.target, by), Fact(who.target, name))
    sessions, pairs = plan_sessions(request, who.facts(request, (by, name)), wanted)
    return request.plan(sessions, _query(request, who, name, pairs, by, aside))


def plan_noisy(request: PlanRequest) -> TrajectoryPlan:
    """The same, put in passing behind talk of something else."""
    return plan_conditional(request, aside=True)


def plan_knowledge_update(request: PlanRequest) -> TrajectoryPlan:
    """An attribute is told wrongly, then corrected; the wrong value is among the options."""
    sort = subject_type_of(request)
    held = nodes_of_type(request.graph, sort)
    name = request.rng.choice(
        [each for each in _UPDATABLE_ATTRIBUTES[sort] if len({node[each] for node in held}) > 1]
    )
    who = select_subjects(request, sort, request.rng.choice(held), (name,))

    def stale(fact: Fact) -> Fact:
        values = sorted({node[name] for node in held} - {fact.value})
        return Fact(fact.subject, name, request.rng.choice(values))

    asked = stale(Fact(who.target, name))
    facts = []
    for fact in who.facts(request, (name,)):
        if fact == Fact(who.target, name):
            facts.append(asked)
        else:
            spoken = request.scene == "participation"
            facts.append(stale(fact) if spoken else fact)
    sessions, pairs = plan_sessions(request, facts, (asked,))
    return request.plan(sessions, _query(request, who, name, pairs, wrong=(asked.stale or "",)))


def _query(
    request: PlanRequest,
    who: QuestionSubjects,
    name: str,
    pairs: EvidencePositions,
    by: str | None = None,
    aside: bool = False,
    wrong: tuple[str, ...] = (),
) -> PlannedQuestion:
    """The question for an attribute of the target, who is called by its name or by another attribute."""
    called = who.target.who(request.language) if by is None else who.named_by(by, request)
    about = fact_templates(request.language).of(who.target.sort)
    return PlannedQuestion(
        question=fill_sentence(about.attributes[name].asked, who=called),
        answer=who.target.node[name],
        evidence=pairs,
        wrong=wrong,
        dated=name == "time",
        aside=aside,
        required_words=(who.target.required_words if by is None else who.by(by),),
    )


PLANNERS: Mapping[str, Planner] = {
    "simple": plan_simple,
    "conditional": plan_conditional,
    "noisy": plan_noisy,
    "knowledge_update": plan_knowledge_update,
}
"""The planners of these kinds."""
