"""What factual plans tell: facts of people, events, items and places, as beats of sessions; and where each stands.

Two who speak have a session about each person or event: its facts are beats, and what else is known of it is what the
talk around them is made from. One who is observed tells it all in one stream, in an order of chance.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memflow.benchmarks.membench.generation.graphs import Node
from memflow.benchmarks.membench.generation.plans import PlannedMessage, PlannedSession, PlanRequest
from memflow.benchmarks.membench.generation.templates import (
    SubjectType,
    fact_templates,
    fill_sentence,
    name_of,
)
from memflow.benchmarks.membench.generation.vocabulary import Language

PERSON_FACTS = (
    "name",
    "age",
    "height",
    "birthday",
    "hometown",
    "work_location",
    "education",
    "occupation",
    "position",
    "company",
    "hobby",
    "phone",
    "email",
)
"""What is told of a person: thirteen attributes."""
FACT_ATTRIBUTES: dict[SubjectType, tuple[str, ...]] = {
    "people": PERSON_FACTS,
    "events": ("event_type", "content", "location", "time", "scale", "duration"),
    "items": ("name", "item_type", "review"),
    "places": ("name", "place_type", "review"),
}
_REFERENCE_ATTRIBUTE: dict[SubjectType, str] = {
    "people": "relationship",
    "events": "name",
    "items": "item_type",
    "places": "place_type",
}
"""What one is called by where the name is what is told."""
_LEAKS = {"name": ("email",), "email": ("name",)}
"""What is not told beside an attribute that is asked for, as it would tell it too."""


@dataclass(frozen=True)
class Subject:
    """What is told of and asked about, and what it is called: by its name, or by what it is to the user."""

    node: Node
    sort: SubjectType
    named: bool = True

    def who(self, language: Language) -> str:
        """What it is called in sentences."""
        about = fact_templates(language).of(self.sort)
        return name_of(about.named if self.named else about.who, self.node)

    @property
    def said(self) -> str:
        """The attribute that `who` says, which is not told of it besides."""
        return "name" if self.named else _REFERENCE_ATTRIBUTE[self.sort]

    @property
    def required_words(self) -> str:
        """The words of `who` that every wording keeps."""
        return self.node[self.said]


@dataclass(frozen=True)
class Fact:
    """One attribute of a subject. With `stale`, it was told wrongly before, and is now corrected."""

    subject: Subject
    attribute: str
    stale: str | None = None

    @property
    def value(self) -> str:
        """The attribute's value."""
        return self.subject.node[self.attribute]

    def message(self, language: Language, evidence: bool) -> PlannedMessage:
        """The fact as it is told; gold says so of evidence alone."""
        text = self._told(language, self.value)
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
        """The wrong value as it is told before."""
        stale = self.stale or ""
        return PlannedMessage(
            self._told(language, stale), required_words=(stale, self.subject.required_words)
        )

    def _told(self, language: Language, value: str) -> str:
        about = fact_templates(language).of(self.subject.sort)
        return fill_sentence(
            about.attributes[self.attribute].told, who=self.subject.who(language), value=value
        )


EvidencePositions = tuple[tuple[int, int], ...]


def plan_sessions(
    request: PlanRequest, facts: Sequence[Fact], wanted: Collection[Fact]
) -> tuple[tuple[PlannedSession, ...], EvidencePositions]:
    """The talks in which the facts are told, and where those that are wanted stand: by talk and beat."""
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        spoken = request.scene == "participation"
        groups.setdefault(fact.subject.node.entity_id if spoken else "", []).append(fact)
    sessions, positions = [], []
    for number, held in enumerate(request.rng.sample(list(groups.values()), len(groups))):
        messages = _order_messages(request, held, wanted)
        positions += [(number, at) for at, (_, message) in enumerate(messages) if message.exposes is not None]
        sessions.append(_build_session(request, held, tuple(message for _, message in messages)))
    return tuple(sessions), tuple(positions)


def _order_messages(
    request: PlanRequest, facts: Sequence[Fact], wanted: Collection[Fact]
) -> list[tuple[Fact, PlannedMessage]]:
    """The facts as beats in an order of chance; what is corrected stands before its correction."""
    language = request.language
    shuffled = [fact for fact in facts for _ in ((0, 1) if fact.stale is not None else (0,))]
    request.rng.shuffle(shuffled)
    corrected: list[Fact] = []
    messages = []
    for fact in shuffled:
        if fact.stale is not None and fact not in corrected:
            corrected.append(fact)
            messages.append((fact, fact.stale_message(language)))
        else:
            messages.append((fact, fact.message(language, fact in wanted)))
    return messages


def _build_session(
    request: PlanRequest, facts: Sequence[Fact], messages: tuple[PlannedMessage, ...]
) -> PlannedSession:
    subject = facts[0].subject
    topic = subject.who(request.language)
    if request.scene == "observation":
        return PlannedSession(topic, messages)
    parameters = request.parameters
    rounds = parameters.role_rounds if subject.sort == "people" else parameters.event_rounds
    return PlannedSession(topic, messages, _background(request, facts), rounds)


def _background(request: PlanRequest, facts: Sequence[Fact]) -> dict[str, str]:
    """What else is known of the subject: all but what the facts tell, and what would tell it too."""
    subject, labels = facts[0].subject, request.vocabulary.labels
    hidden = {fact.attribute for fact in facts}
    hidden |= {leak for fact in facts for leak in _LEAKS.get(fact.attribute, ())}
    known = {"name": subject.node.name, **subject.node.attributes}
    if subject.sort == "people":
        known = {"relationship": subject.node.relationship, **known}
    return {labels[name]: value for name, value in known.items() if name not in hidden}
