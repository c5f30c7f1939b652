"""What factual plans tell: facts of people, events, items and places, as beats of sessions; and where each stands.

Two who speak have a session about each person or event: its facts are beats, and what else is known of it is what the
talk around them is made from. One who is observed tells it all in one stream, in an order of chance.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memflow.benchmarks.membench.generation.graphs import Node
from memflow.benchmarks.membench.generation.plans import Beat, Talk, Task
from memflow.benchmarks.membench.generation.templates import (
    SubjectType,
    fact_templates,
    fill_sentence,
    name_of,
)
from memflow.benchmarks.membench.generation.vocabulary import Language

PERSON = (
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
TOLD: dict[SubjectType, tuple[str, ...]] = {
    "people": PERSON,
    "events": ("event_type", "content", "location", "time", "scale", "duration"),
    "items": ("name", "item_type", "review"),
    "places": ("name", "place_type", "review"),
}
_CALLED: dict[SubjectType, str] = {
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
        return "name" if self.named else _CALLED[self.sort]

    @property
    def keeps(self) -> str:
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

    def beat(self, language: Language, evidence: bool) -> Beat:
        """The fact as it is told; gold says so of evidence alone."""
        text = self._told(language, self.value)
        if self.stale is not None:
            text = fill_sentence(fact_templates(language).corrected, told=text)
        exposes = {
            "entity": self.subject.node.entity_id,
            "attribute": self.attribute,
            "value": self.value,
        }
        return Beat(text, keeps=(self.value, self.subject.keeps), exposes=exposes if evidence else None)

    def stale_beat(self, language: Language) -> Beat:
        """The wrong value as it is told before."""
        stale = self.stale or ""
        return Beat(self._told(language, stale), keeps=(stale, self.subject.keeps))

    def _told(self, language: Language, value: str) -> str:
        about = fact_templates(language).of(self.subject.sort)
        return fill_sentence(
            about.attributes[self.attribute].told, who=self.subject.who(language), value=value
        )


Pairs = tuple[tuple[int, int], ...]


def told(task: Task, facts: Sequence[Fact], wanted: Collection[Fact]) -> tuple[tuple[Talk, ...], Pairs]:
    """The talks in which the facts are told, and where those that are wanted stand: by talk and beat."""
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        spoken = task.scene == "participation"
        groups.setdefault(fact.subject.node.entity_id if spoken else "", []).append(fact)
    sessions = list(groups.values())
    talks, pairs = [], []
    for number, held in enumerate(task.chance.sample(sessions, len(sessions))):
        beats = _beats(task, held, wanted)
        pairs += [(number, at) for at, (_, beat) in enumerate(beats) if beat.exposes is not None]
        talks.append(_talk(task, held, tuple(beat for _, beat in beats)))
    return tuple(talks), tuple(pairs)


def _beats(task: Task, facts: Sequence[Fact], wanted: Collection[Fact]) -> list[tuple[Fact, Beat]]:
    """The facts as beats in an order of chance; what is corrected stands before its correction."""
    language = task.language
    shuffled = [fact for fact in facts for _ in ((0, 1) if fact.stale is not None else (0,))]
    task.chance.shuffle(shuffled)
    corrected: list[Fact] = []
    beats = []
    for fact in shuffled:
        if fact.stale is not None and fact not in corrected:
            corrected.append(fact)
            beats.append((fact, fact.stale_beat(language)))
        else:
            beats.append((fact, fact.beat(language, fact in wanted)))
    return beats


def _talk(task: Task, facts: Sequence[Fact], beats: tuple[Beat, ...]) -> Talk:
    subject = facts[0].subject
    topic = subject.who(task.language)
    if task.scene == "observation":
        return Talk(topic, beats)
    parameters = task.parameters
    rounds = parameters.role_rounds if subject.sort == "people" else parameters.event_rounds
    return Talk(topic, beats, _context(task, facts), rounds)


def _context(task: Task, facts: Sequence[Fact]) -> dict[str, str]:
    """What else is known of the subject: all but what the facts tell, and what would tell it too."""
    subject, labels = facts[0].subject, task.vocabulary.labels
    hidden = {fact.attribute for fact in facts}
    hidden |= {leak for fact in facts for leak in _LEAKS.get(fact.attribute, ())}
    known = {"name": subject.node.name, **subject.node.attributes}
    if subject.sort == "people":
        known = {"relationship": subject.node.relationship, **known}
    return {labels[name]: value for name, value in known.items() if name not in hidden}
