"""Sessions in which the user states facts about people, events, items and places.

In participation each person or event has a session, whose conversation is about other attributes of the same entity. In
observation all facts are in one session in random order.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memflow.benchmarks.membench.generation.graphs import ATTRIBUTES, Node, SubjectType
from memflow.benchmarks.membench.generation.plans import PlannedMessage, PlannedSession, PlanRequest
from memflow.benchmarks.membench.generation.templates import (
    fact_templates,
    fill_sentence,
    name_of,
    with_article,
)
from memflow.benchmarks.membench.generation.vocabulary import Language

FACT_ATTRIBUTES: Mapping[SubjectType, tuple[str, ...]] = ATTRIBUTES["stated"]
_REFERENCE_ATTRIBUTE: Mapping[SubjectType, str] = ATTRIBUTES["reference"]
"""Attribute that refers to an entity when the name itself is the stated fact."""
_LEAKS = {"name": ("email",), "email": ("name",)}
"""Attributes that are hidden from the context because they reveal an asked attribute."""


@dataclass(frozen=True)
class Subject:
    """An entity that messages refer to by its name or by its relationship to the user."""

    node: Node
    sort: SubjectType
    named: bool = True

    def reference(self, language: Language) -> str:
        """Return the phrase that refers to the entity."""
        about = fact_templates(language).of(self.sort)
        return name_of(about.named if self.named else about.who, self.node)

    @property
    def reference_attribute(self) -> str:
        """The attribute that the reference already states. No message states this attribute separately."""
        return "name" if self.named else _REFERENCE_ATTRIBUTE[self.sort]

    @property
    def required_words(self) -> str:
        """The words of the reference that the simulator's sentence must contain."""
        return self.node[self.reference_attribute]


@dataclass(frozen=True)
class Fact:
    """A fact to state: an attribute of an entity. `stale` is a wrong value that is stated before the correction."""

    subject: Subject
    attribute: str
    stale: str | None = None

    @property
    def value(self) -> str:
        """The correct value of the attribute."""
        return self.subject.node[self.attribute]

    def message(self, language: Language, evidence: bool) -> PlannedMessage:
        """Return the message that states the correct value, as a correction if there is a `stale` one.

        `exposes` has the entity, the attribute and the value if `evidence` is true, and is None otherwise.
        """
        text = self._state(language, self.value)
        if self.stale is not None:
            text = fill_sentence(fact_templates(language).corrected, told=text)
        exposes = {
            "entity": self.subject.node.entity_id,
            "attribute": self.attribute,
            "value": self.value,
        }
        return PlannedMessage(
            text,
            required_words=(self.value, self.subject.required_words),
            exposes=exposes if evidence else None,
        )

    def stale_message(self, language: Language) -> PlannedMessage:
        """Return the message that states the wrong value, before its correction."""
        stale = self.stale or ""
        return PlannedMessage(
            self._state(language, stale), required_words=(stale, self.subject.required_words)
        )

    def _state(self, language: Language, value: str) -> str:
        about = fact_templates(language).of(self.subject.sort)
        return fill_sentence(
            about.attributes[self.attribute].told,
            who=self.subject.reference(language),
            value=value,
            a_value=with_article(value),
        )


def plan_sessions(
    request: PlanRequest, facts: Sequence[Fact], wanted: Collection[Fact]
) -> tuple[PlannedSession, ...]:
    """Return the sessions that state the facts. The messages of the `wanted` facts are evidence."""
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        spoken = request.scene == "participation"
        groups.setdefault(fact.subject.node.entity_id if spoken else "", []).append(fact)
    return tuple(
        _build_session(request, group, tuple(_order_messages(request, group, wanted)))
        for group in request.rng.sample(list(groups.values()), len(groups))
    )


def _order_messages(
    request: PlanRequest, facts: Sequence[Fact], wanted: Collection[Fact]
) -> Iterator[PlannedMessage]:
    """Yield the facts as messages in random order. Each wrong value comes before its correction."""
    language = request.language
    shuffled = [fact for fact in facts for _ in ((0, 1) if fact.stale is not None else (0,))]
    request.rng.shuffle(shuffled)
    corrected: list[Fact] = []
    for fact in shuffled:
        if fact.stale is not None and fact not in corrected:
            corrected.append(fact)
            yield fact.stale_message(language)
        else:
            yield fact.message(language, fact in wanted)


def _build_session(
    request: PlanRequest, facts: Sequence[Fact], messages: tuple[PlannedMessage, ...]
) -> PlannedSession:
    subject = facts[0].subject
    topic = subject.reference(request.language)
    if request.scene == "observation":
        return PlannedSession(topic, messages)
    parameters = request.parameters
    rounds = parameters.role_rounds if subject.sort == "people" else parameters.event_rounds
    return PlannedSession(topic, messages, _background(request, facts), rounds)


def _background(request: PlanRequest, facts: Sequence[Fact]) -> dict[str, str]:
    """Return the subject's attributes that neither the topic of the session states nor reveal the stated facts."""
    subject, labels = facts[0].subject, request.vocabulary.labels
    hidden = {fact.attribute for fact in facts}
    hidden |= {leak for fact in facts for leak in _LEAKS.get(fact.attribute, ())}
    hidden.add(subject.reference_attribute)
    known = {"name": subject.node.name, **subject.node.attributes}
    return {labels[name]: value for name, value in known.items() if name not in hidden}
