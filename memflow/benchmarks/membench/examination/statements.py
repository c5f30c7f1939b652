"""Statements that the examiner reads in messages: attribute values, preferences, recommendations and moods."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from memflow.benchmarks.membench.examination import quantities
from memflow.benchmarks.membench.examination.lexicon import (
    ATTRIBUTES,
    PERSON,
    Lexicon,
    Value,
    lexicon,
    normalize,
)
from memflow.benchmarks.membench.generation.preferences import Topic
from memflow.benchmarks.membench.generation.vocabulary import Language
from memflow.benchmarks.membench.turns import is_noise, session_of
from memflow.benchmarks.membench.wording import parse_time, strip_stamp
from memflow.records import Turn

_CHANGING = frozenset(ATTRIBUTES[PERSON]) - {"birthday", "phone", "email"}
"""Attributes of which a message may state the value at another time."""
_SHORT = 15
"""Characters of a clause that gives a time alone."""


@dataclass(frozen=True)
class Message:
    """A message whose text does not include the stamp of place and time."""

    message_id: str
    role: str
    text: str
    sent_at: datetime

    @property
    def session(self) -> str:
        """The common prefix of the ids of the messages in the same session."""
        return session_of(self.message_id)


@dataclass(frozen=True)
class Mention:
    """A reference to an entity by its name or, if `named` is false, by its relationship or type."""

    sort: str
    named: bool
    text: str


@dataclass(frozen=True)
class Statement:
    """An attribute value of an entity that a message states. The value of a `time` is the resolved moment."""

    attribute: str
    value: Value | datetime
    text: str
    message_id: str
    corrects: bool


@dataclass(frozen=True)
class TextReading:
    """The first mentions of a text's entity by name and by type, and its (attribute, value text) pairs.

    `ambiguous` has the attributes of which the text has several values; `values` has the first one.
    """

    mentions: tuple[Mention, ...]
    values: tuple[tuple[str, str], ...]
    ambiguous: frozenset[str]


@dataclass
class Reading:
    """The statements in the messages of a trajectory.

    An entity is identified by its relationship or type, or by its name if messages give only the name.
    """

    language: Language
    messages: tuple[Message, ...]
    statements: dict[Mention, list[Statement]] = field(default_factory=lambda: defaultdict(list))
    names: dict[Mention, Mention] = field(default_factory=dict)
    """The relationship or type of an entity, by the name of the entity."""
    naming: dict[Mention, str] = field(default_factory=dict)
    """The id of the first message that gives an entity's name and its relationship or type, by name."""
    unread: dict[tuple[Mention, str], str] = field(default_factory=dict)
    """The id of a message with several values of an attribute of an entity, by entity and attribute."""

    def entity(self, mention: Mention) -> Mention:
        """Return the mention that identifies an entity."""
        return self.names.get(mention, mention)

    def entities(self, sort: str) -> list[Mention]:
        """Return all entities of a sort, such as people, about which messages state values."""
        return [statement for statement in self.statements if statement.sort == sort]

    def name_of(self, entity: Mention) -> Mention | None:
        """Return the mention of an entity by name, or None if no message states the name."""
        if entity.named:
            return entity
        return next((name for name, other in self.names.items() if other == entity), None)


def read_messages(turns: Iterable[Turn], language: Language) -> tuple[Message, ...]:
    """Return the messages of a trajectory in order, without noise, quarantined ones and those without a time."""
    return tuple(
        Message(turn.message_id, turn.role, strip_stamp(turn.text), moment)
        for turn in sorted(turns, key=lambda each: (each.event, each.position))
        if turn.reason is None and not is_noise(turn.message_id)
        for moment in [parse_time(turn.sent_at or "")]
        if moment is not None
    )


def read_statements(messages: Sequence[Message], language: Language) -> Reading:
    """Return the statements that the user's messages make about people, events, items and places."""
    words, found = lexicon(language), Reading(language, tuple(messages))
    readings = [
        (message, read_text(message.text, language)) for message in messages if message.role == "user"
    ]
    for message, reading in readings:
        names = [mention for mention in reading.mentions if mention.named]
        types = [each for each in reading.mentions if not each.named]
        if len(names) == len(types) == 1 and names[0].sort == types[0].sort:
            found.names[names[0]] = types[0]
            found.naming.setdefault(names[0], message.message_id)
    for message, reading in readings:
        entities = {found.entity(each) for each in reading.mentions}
        if len(entities) != 1:
            continue
        entity = entities.pop()
        found.unread |= {(entity, attribute): message.message_id for attribute in reading.ambiguous}
        statements = found.statements[entity]
        corrects = words.cues.corrected.search(message.text) is not None
        for attribute, text in reading.values:
            value: Value | datetime = words.measure(attribute, text)
            if attribute == "time":
                value = quantities.moment_of(text, message.sent_at)
            statements.append(Statement(attribute, value, text, message.message_id, corrects))
    return found


@lru_cache(maxsize=65536)
def read_text(text: str, language: Language) -> TextReading:
    """Return the mentions and the values in a text. A value that does not fit the sort of the entity is ignored."""
    words = lexicon(language)
    mentions: list[Mention] = []
    rest = text
    for (sort, named), pattern in words.mentions.items():
        for match in pattern.finditer(text):
            mention = Mention(sort, named, match[0] if named else match[1].casefold())
            if mention not in mentions:
                mentions.append(mention)
            rest = rest.replace(match[0], "…")
    sorts = {each.sort for each in mentions} or set(ATTRIBUTES)
    values = dict(_values(rest, sorts, words))
    several = frozenset(name for name, texts in values.items() if len({*map(normalize, texts)}) > 1)
    return TextReading(tuple(mentions), tuple((name, texts[0]) for name, texts in values.items()), several)


def _values(text: str, sorts: Iterable[str], words: Lexicon) -> Iterable[tuple[str, list[str]]]:
    """Yield each attribute with the texts of its values, of which the cue, if required, is in the text."""
    present = _without_projections(text, words)
    for attribute in dict.fromkeys(name for sort in sorted(sorts) for name in ATTRIBUTES[sort]):
        stated = present if attribute in _CHANGING else text
        found = [match[0] for match in words.values[attribute].finditer(stated)]
        if texts := [each for each in found if words.has_cue(attribute, each, text)]:
            yield attribute, texts


def _without_projections(text: str, words: Lexicon) -> str:
    """Return a text without its clauses about another time: `he is 45 years old, next year he will be 46 years old`.

    A short clause such as `Next year,` extends to the clause after it.
    """
    clauses, projected = [], False
    for clause in words.cues.clause_end.split(text):
        marked = words.cues.projected.search(clause) is not None
        if not marked and not projected:
            clauses.append(clause)
        projected = marked and len(clause) <= _SHORT
    return " ".join(clauses)


def items_in(text: str, words: Lexicon, topics: Iterable[Topic]) -> dict[str, Topic]:
    """Return the topic of each liked item that a text names, by item in order."""
    found = [
        (match.start(), match[0], topic) for topic in topics for match in words.items[topic].finditer(text)
    ]
    return {item: topic for _, item, topic in sorted(found)}


def liked_items(messages: Iterable[Message], words: Lexicon, topic: Topic) -> list[str]:
    """Return the items of a topic that the user likes."""
    cues = words.cues
    return [
        item
        for message in messages
        if message.role == "user"
        and cues.liked.search(message.text)
        and not cues.disliked.search(message.text)
        for item in items_in(message.text, words, [topic])
    ]


def recommended_items(messages: Iterable[Message], words: Lexicon, topics: Sequence[Topic]) -> list[str]:
    """Return the items that the assistant recommends, in order."""
    return [
        item
        for message in messages
        if message.role == "assistant" and words.cues.recommended.search(message.text)
        for item in items_in(message.text, words, topics)
    ]


def moods_in(messages: Iterable[Message], words: Lexicon) -> Mapping[str, list[str]]:
    """Return the ids of the user's messages that show a mood, by mood; a message may show several."""
    found: dict[str, list[str]] = defaultdict(list)
    for message in messages:
        for mood, phrases in words.cues.moods.items():
            said = message.text.casefold()
            if message.role == "user" and any(phrase.casefold() in said for phrase in phrases):
                found[mood].append(message.message_id)
    return found
