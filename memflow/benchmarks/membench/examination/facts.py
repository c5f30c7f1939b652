"""Golds of questions about one attribute of an entity, or about a value that follows from the attribute."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise

from memflow.benchmarks.membench.examination import quantities
from memflow.benchmarks.membench.examination.cues import AskedAttribute
from memflow.benchmarks.membench.examination.gold import ContradictionError, FaultyError, Gold, UnreadError
from memflow.benchmarks.membench.examination.lexicon import Lexicon, normalize
from memflow.benchmarks.membench.examination.statements import Mention, Reading, Statement, read_text

SEASONS = {"en": ("winter", "spring", "summer", "autumn"), "zh": ("冬季", "春季", "夏季", "秋季")}
"""Seasons from December on, three months each."""


def attribute_gold(
    asked: AskedAttribute, match: re.Match[str], question: str, reading: Reading, words: Lexicon
) -> Gold:
    """Return the gold of a question about an attribute. Raises UnreadError and FaultyError."""
    entity, messages = _asked_entity(asked, question, reading, words)
    if asked.attribute in ("name", "item_type", "place_type"):
        statement = _naming(asked.attribute, entity, reading)
    else:
        statement = last_statement(entity, asked.attribute, reading)
    messages = (*messages, statement.message_id)
    if isinstance(statement.value, datetime):
        return _date(statement.value, messages)
    if asked.derives is None:
        return Gold(
            statement.text,
            messages,
            lambda option: _measured(words, asked.attribute, option) == statement.value,
        )
    text = _derived(asked, match, statement, words)
    if asked.derives in ("digit_sum", "length", "half", "hours"):
        return Gold(text, messages, lambda option: option_number(option) == int(text))
    return Gold(text, messages, lambda option: normalize(option) == normalize(text))


def _naming_messages(reading: Reading, mentions: Iterable[Mention]) -> tuple[str, ...]:
    """Return the ids of the messages that state both the name and the relationship or type of these entities."""
    names = {reading.name_of(reading.entity(mention)) for mention in mentions}
    return tuple(reading.naming[name] for name in names if name in reading.naming)


def _naming(attribute: str, entity: Mention, reading: Reading) -> Statement:
    """Return the name or the type of an entity as a statement. Raises UnreadError."""
    name = reading.name_of(entity)
    if name is None or name not in reading.naming:
        raise UnreadError(f"no message states the {attribute} of {entity.text}")
    text = name.text if attribute == "name" else entity.text
    return Statement(attribute, normalize(text), text, reading.naming[name], corrects=False)


def _asked_entity(
    asked: AskedAttribute, question: str, reading: Reading, words: Lexicon
) -> tuple[Mention, tuple[str, ...]]:
    """Return the entity that a question is about, and the messages that identify it by a value, if any."""
    found = read_text(question, reading.language)
    entities = {reading.entity(mention) for mention in found.mentions}
    if len(entities) == 1:
        return entities.pop(), _naming_messages(reading, found.mentions)
    # A review may contain other values: "one day is hardly enough".
    values = [each for each in found.values if each[0] == "review"] or found.values
    conditions = [(name, words.measure(name, text)) for name, text in values if name != asked.attribute]
    if entities or len(conditions) != 1:
        raise UnreadError("the question names neither exactly one entity nor exactly one condition")
    [(attribute, value)] = conditions
    matching = [
        (entity, statement)
        for entity in reading.statements
        for statement in [_last_or_none(entity, attribute, reading)]
        if statement is not None and statement.value == value
    ]
    if not matching:
        raise UnreadError(f"no message states the {attribute} {value!r} that the question names")
    if len(matching) > 1:
        names = ", ".join(entity.text for entity, _ in matching)
        raise FaultyError(f"the {attribute} in the question fits several entities: {names}")
    [(entity, statement)] = matching
    return entity, (statement.message_id,)


def last_statement(entity: Mention, attribute: str, reading: Reading) -> Statement:
    """Return the last statement of an attribute of an entity. Raises UnreadError and FaultyError."""
    statement = _last_or_none(entity, attribute, reading)
    if statement is None:
        raise UnreadError(f"no message states the {attribute} of {entity.text}")
    return statement


def _last_or_none(entity: Mention, attribute: str, reading: Reading) -> Statement | None:
    """Return the last statement of an attribute, or None. Raises FaultyError for contradictory values.

    Raises UnreadError if a message has several values of the attribute, such as that of another person.
    """
    if message := reading.unread.get((entity, attribute)):
        raise UnreadError(f"message {message} has several values of the {attribute} of {entity.text}")
    statements = [
        statement for statement in reading.statements.get(entity, ()) if statement.attribute == attribute
    ]
    for before, after in pairwise(statements):
        if before.value != after.value and not after.corrects:
            raise ContradictionError(
                f"messages {before.message_id} and {after.message_id} state different values of the {attribute} "
                f"of {entity.text}, without a correction"
            )
    return statements[-1] if statements else None


def _date(moment: datetime, messages: tuple[str, ...]) -> Gold:
    # A reader who counts the day of the message as the first day arrives at the day before.
    return Gold(
        f"{moment:%Y-%m-%d %H:%M}",
        messages,
        lambda option: quantities.moment_in(option) == moment,
        lambda option: quantities.moment_in(option) == moment - timedelta(days=1),
    )


def _derived(asked: AskedAttribute, match: re.Match[str], statement: Statement, words: Lexicon) -> str:
    """Return the text derived from a value, such as a sum of digits. Raises UnreadError for an unknown value."""
    digits = [int(each) for each in statement.text if each.isdigit()]
    match asked.derives, statement.value:
        case "digit_sum", _:
            found = str(sum(digits[-int(match["digits"]) :]))
        case "mail_domain", _:
            found = statement.text.rpartition("@")[2]
        case "length", _:
            found = str(sum(each.isalnum() for each in statement.text))
        case "season", (int(month), int()):
            found = SEASONS[words.language][month // 3 % 4]
        case "half", int(people):
            found = str(people // 2)
        case "hours", int(days):
            found = str(24 * days)
        case _:
            known = words.descriptions.get(asked.attribute, {})
            if normalize(statement.text) not in known:
                raise UnreadError(
                    f"the word list has no description of the {asked.attribute} {statement.text!r}"
                )
            found = known[normalize(statement.text)]
    return found


def _measured(words: Lexicon, attribute: str, option: str) -> object:
    try:
        return words.measure(attribute, option)
    except ValueError:
        return normalize(option)


def option_number(option: str) -> int | None:
    """Return the first number in an option, or None without a number."""
    try:
        return quantities.number_in(option)
    except ValueError:
        return None
