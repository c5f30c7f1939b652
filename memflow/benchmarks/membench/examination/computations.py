"""Golds of questions that compare two entities or count entities."""

import re

from memflow.benchmarks.membench.examination import quantities
from memflow.benchmarks.membench.examination.cues import Comparison, Count
from memflow.benchmarks.membench.examination.facts import last_statement, option_number
from memflow.benchmarks.membench.examination.gold import FaultyError, Gold, UnreadError
from memflow.benchmarks.membench.examination.lexicon import EVENT, PERSON, Lexicon, normalize
from memflow.benchmarks.membench.examination.statements import Mention, Reading, Statement, read_text

_OF_EVENTS = ("location", "scale", "duration")
"""Attributes of events that questions count by."""


def comparison_gold(comparison: Comparison, question: str, reading: Reading, words: Lexicon) -> Gold:
    """Return which of two entities is ahead, with the value. Raises UnreadError and FaultyError."""
    mentions = _named_entities(question, reading)
    if len(mentions) != 2:
        raise UnreadError("the question does not name two entities")
    statements = [last_statement(reading.entity(each), comparison.attribute, reading) for each in mentions]
    first, second = (statement.value for statement in statements)
    if type(first) is not type(second) or isinstance(first, str):
        raise UnreadError(f"the values of {comparison.attribute} have no order")
    if first == second:
        raise FaultyError(f"both have the same {comparison.attribute}")
    ahead = 0 if ((first < second) if comparison.lesser else (first > second)) else 1  # type: ignore[operator]
    name, value = normalize(mentions[ahead].text), normalize(statements[ahead].text)

    def is_right(option: str) -> bool:
        said = normalize(option)
        return said.startswith(name) and said.removeprefix(name).strip(" ,，:：") == value

    return Gold(f"{name}, {value}", tuple(statement.message_id for statement in statements), is_right)


def shared_place_gold(comparison: Comparison, question: str, reading: Reading, words: Lexicon) -> Gold:
    """Return whether a person and an event share a place. Raises UnreadError and FaultyError."""
    mentions = {entity.sort: entity for entity in _named_entities(question, reading)}
    if set(mentions) != {PERSON, EVENT}:
        raise UnreadError("the question does not name a person and an event")
    statements = (
        last_statement(reading.entity(mentions[PERSON]), comparison.attribute, reading),
        last_statement(reading.entity(mentions[EVENT]), "location", reading),
    )
    here, there = (normalize(statement.text) for statement in statements)

    def is_right(option: str) -> bool:
        if match := words.cues.same_place.search(option):
            return here == there == normalize(match["here"])
        match = words.cues.different_places.search(option)
        return (
            match is not None
            and here != there
            and (normalize(match["here"]), normalize(match["there"])) == (here, there)
        )

    return Gold(
        f"{statements[0].text} and {statements[1].text}",
        tuple(statement.message_id for statement in statements),
        is_right,
    )


def count_gold(count: Count, match: re.Match[str], question: str, reading: Reading, words: Lexicon) -> Gold:
    """Return the number of entities with a value or at least a value. Raises UnreadError and FaultyError."""
    asked = dict(read_text(question, reading.language).values)
    month = match.groupdict().get("month")
    bound = month or next((asked[name] for name in count.attributes if name in asked), None)
    if bound is None:
        raise UnreadError(f"the question names no {count.attributes[0]}")
    statements = [
        last_statement(entity, attribute, reading)
        for attribute in count.attributes
        for entity in reading.entities(EVENT if attribute in _OF_EVENTS else PERSON)
    ]
    if not statements:
        raise UnreadError("no message names any of the counted entities")
    total = sum(_satisfies(statement, bound, count, words) for statement in statements)
    messages = tuple(statement.message_id for statement in statements)
    return Gold(str(total), messages, lambda option: option_number(option) == total, all_required=True)


def _satisfies(statement: Statement, bound: str, count: Count, words: Lexicon) -> bool:
    if statement.attribute == "birthday" and isinstance(statement.value, tuple):
        return statement.value[0] >= quantities.month_of(bound)
    value = words.measure(statement.attribute, bound)
    return statement.value >= value if count.at_least else statement.value == value  # type: ignore[operator]


def _named_entities(question: str, reading: Reading) -> list[Mention]:
    mentions = [mention for mention in read_text(question, reading.language).mentions if mention.named]
    return sorted(mentions, key=lambda each: question.find(each.text))
