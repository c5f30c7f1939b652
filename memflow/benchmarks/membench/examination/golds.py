"""Recomputation of a question's gold from the statements in the messages.

Each solver returns the gold and a test of whether an option is right, so that options other than the gold are examined
too. The question text and the messages are the only input.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memflow.benchmarks.membench.examination import quantities
from memflow.benchmarks.membench.examination.cues import AskedAttribute, Comparison, Count
from memflow.benchmarks.membench.examination.lexicon import EVENT, PERSON, Lexicon, lexicon, normalize
from memflow.benchmarks.membench.examination.statements import (
    Fact,
    Mention,
    Reading,
    liked_items,
    moods_in,
    read_text,
    recommended_items,
)
from memflow.benchmarks.membench.wording import parse_time
from memflow.benchmarks.scripted_reader import LIST_MARKS


class UnreadError(Exception):
    """The examiner cannot read the question or a message that the question requires."""


class FaultyError(Exception):
    """The messages do not determine one answer, or they contradict each other."""


@dataclass(frozen=True)
class Gold:
    """A recomputed gold, the ids of the messages that state it, and a test of whether an option is right.

    `other_readings` are answers that a reader could defend too; no option may be one of them.
    """

    text: str
    messages: tuple[str, ...]
    is_right: Callable[[str], bool]
    other_readings: Callable[[str], bool] = lambda option: False


def solve(question: str, reading: Reading) -> Gold:
    """Return the gold of a question. Raises UnreadError and FaultyError."""
    words = lexicon(reading.language)
    cues = words.cues
    if match := cues.mood_asked.search(question):
        return _mood(match["happening"], reading, words)
    if cues.recommendations_asked.search(question):
        return _recommendations(question, reading, words)
    if cues.preference_asked.search(question):
        return _preference(question, reading, words)
    for places in cues.compared_places:
        if places.asks.search(question):
            return _shared_place(places, question, reading, words)
    for comparison in cues.compared:
        if comparison.asks.search(question):
            return _comparison(comparison, question, reading, words)
    for count in cues.counted:
        if match := count.asks.search(question):
            return _count(count, match, question, reading, words)
    for asked in cues.asked:
        if match := asked.asks.search(question):
            return _attribute(asked, match, question, reading, words)
    raise UnreadError("the question matches no cue")


def _attribute(
    asked: AskedAttribute, match: re.Match[str], question: str, reading: Reading, words: Lexicon
) -> Gold:
    entity, messages = _asked_entity(asked, question, reading, words)
    if asked.attribute in ("name", "item_type", "place_type"):
        text = reading.name_of(entity) if asked.attribute == "name" else entity.text
        if text is None or entity.named and asked.attribute != "name":
            raise UnreadError(f"no message states the {asked.attribute} of {entity.text}")
        fact = Fact(asked.attribute, normalize(text), text, "", False)
    else:
        fact = _last(entity, asked.attribute, reading)
        messages = (*messages, fact.message_id)
    if isinstance(fact.value, datetime):
        return _date(fact.value, messages)
    if asked.derives is None:
        return Gold(fact.text, messages, lambda option: _measured(words, asked.attribute, option) == fact.value)
    text = _derived(asked, match, fact, words)
    if asked.derives in ("digit_sum", "length", "half", "hours"):
        return Gold(text, messages, lambda option: _number(option) == int(text))
    return Gold(text, messages, lambda option: normalize(option) == normalize(text))


def _asked_entity(
    asked: AskedAttribute, question: str, reading: Reading, words: Lexicon
) -> tuple[Mention, tuple[str, ...]]:
    """Return the entity that a question is about, and the messages that identify it by a value, if any."""
    found = read_text(question, reading.language)
    entities = {reading.entity(each) for each in found.mentions}
    if len(entities) == 1:
        return entities.pop(), ()
    # A review may contain other values: "one day is hardly enough".
    values = [each for each in found.values if each[0] == "review"] or found.values
    conditions = [(name, words.measure(name, text)) for name, text in values if name != asked.attribute]
    if entities or len(conditions) != 1:
        raise UnreadError("the question does not name one entity and has no single condition")
    [(attribute, value)] = conditions
    matching = [
        (entity, fact)
        for entity in reading.facts
        for fact in [_last_or_none(entity, attribute, reading)]
        if fact is not None and fact.value == value
    ]
    if not matching:
        raise UnreadError(f"no message states the {attribute} that the question names")
    if len(matching) > 1:
        names = ", ".join(entity.text for entity, _ in matching)
        raise FaultyError(f"the {attribute} in the question fits several entities: {names}")
    [(entity, fact)] = matching
    return entity, (fact.message_id,)


def _last_or_none(entity: Mention, attribute: str, reading: Reading) -> Fact | None:
    """Return the last statement of an attribute. Raises FaultyError for two values without a correction."""
    facts = [fact for fact in reading.facts.get(entity, ()) if fact.attribute == attribute]
    for before, after in zip(facts, facts[1:], strict=False):
        if before.value != after.value and not after.corrects:
            raise FaultyError(
                f"messages {before.message_id} and {after.message_id} state different values of the {attribute} "
                f"of {entity.text}, without a correction"
            )
    if attribute == "time" and facts and facts[-1].message_id in reading.ambiguous_times:
        raise FaultyError(f"message {facts[-1].message_id} states a relative time with two readings")
    return facts[-1] if facts else None


def _last(entity: Mention, attribute: str, reading: Reading) -> Fact:
    fact = _last_or_none(entity, attribute, reading)
    if fact is None:
        ambiguous = [
            message.message_id
            for message in reading.messages
            if message.message_id in reading.ambiguous_times and attribute == "time"
        ]
        if ambiguous:
            raise FaultyError(f"message {ambiguous[0]} states a relative time with two readings")
        raise UnreadError(f"no message states the {attribute} of {entity.text}")
    return fact


def _date(moment: datetime, messages: tuple[str, ...]) -> Gold:
    # A reader who counts the day of the message as the first day arrives at the day before.
    return Gold(
        f"{moment:%Y-%m-%d %H:%M}",
        messages,
        lambda option: parse_time(option) == moment,
        lambda option: parse_time(option) == moment - timedelta(days=1),
    )


def _derived(asked: AskedAttribute, match: re.Match[str], fact: Fact, words: Lexicon) -> str:
    """Return what follows from a value. Raises UnreadError for a value without a known description."""
    value, text = fact.value, fact.text
    match asked.derives:
        case "digit_sum":
            digits = [int(each) for each in text if each.isdigit()]
            return str(sum(digits[-int(match["digits"]) :]))
        case "mail_domain":
            return text.rpartition("@")[2]
        case "length":
            return str(sum(each.isalnum() for each in text))
        case "season" if isinstance(value, tuple):
            return _season(value[0], words)
        case "half" if isinstance(value, int):
            return str(value // 2)
        case "hours" if isinstance(value, int):
            return str(24 * value)
    known = words.descriptions.get(asked.attribute, {})
    if normalize(text) not in known:
        raise UnreadError(f"no description of {text} is known")
    return known[normalize(text)]


def _season(month: int, words: Lexicon) -> str:
    names = ("winter", "spring", "summer", "autumn") if words.language == "en" else ("冬季", "春季", "夏季", "秋季")
    return names[(month // 3) % 4]


def _named_entities(question: str, reading: Reading) -> list[Mention]:
    mentions = [each for each in read_text(question, reading.language).mentions if each.named]
    return sorted(mentions, key=lambda each: question.find(each.text))


def _comparison(comparison: Comparison, question: str, reading: Reading, words: Lexicon) -> Gold:
    mentions = _named_entities(question, reading)
    if len(mentions) != 2:
        raise UnreadError("the question does not name two entities")
    facts = [_last(reading.entity(each), comparison.attribute, reading) for each in mentions]
    first, second = (fact.value for fact in facts)
    if type(first) is not type(second) or isinstance(first, str):
        raise UnreadError(f"the values of {comparison.attribute} have no order")
    if first == second:
        text = words.cues.both
    else:
        ahead = (first < second) if comparison.lesser else (first > second)  # type: ignore[operator]
        text = mentions[0 if ahead else 1].text
    messages = tuple(fact.message_id for fact in facts)
    return Gold(text, messages, lambda option: normalize(option) == normalize(text))


def _shared_place(comparison: Comparison, question: str, reading: Reading, words: Lexicon) -> Gold:
    mentions = {each.sort: each for each in _named_entities(question, reading)}
    if set(mentions) != {PERSON, EVENT}:
        raise UnreadError("the question does not name a person and an event")
    facts = (
        _last(reading.entity(mentions[PERSON]), comparison.attribute, reading),
        _last(reading.entity(mentions[EVENT]), "location", reading),
    )
    here, there = (normalize(fact.text) for fact in facts)

    def is_right(option: str) -> bool:
        if match := words.cues.same_place.search(option):
            return here == there == normalize(match["here"])
        match = words.cues.different_places.search(option)
        return match is not None and here != there and (normalize(match["here"]), normalize(match["there"])) == (here, there)

    return Gold(f"{facts[0].text} and {facts[1].text}", tuple(fact.message_id for fact in facts), is_right)


def _count(count: Count, match: re.Match[str], question: str, reading: Reading, words: Lexicon) -> Gold:
    sorts = {PERSON: [name for name in count.attributes if name not in ("location", "scale", "duration")]}
    sorts[EVENT] = [name for name in count.attributes if name not in sorts[PERSON]]
    asked = dict(read_text(question, reading.language).values)
    total, messages = 0, []
    for sort, attributes in sorts.items():
        for attribute in attributes:
            bound = match["month"] if attribute == "birthday" else asked.get(attribute) or asked.get(count.attributes[0])
            if bound is None:
                raise UnreadError(f"the question names no {attribute}")
            for entity in reading.entities(sort):
                fact = _last(entity, attribute, reading)
                messages.append(fact.message_id)
                total += _satisfies(fact, bound, count, words)
    return Gold(str(total), tuple(messages), lambda option: _number(option) == total)


def _satisfies(fact: Fact, bound: str, count: Count, words: Lexicon) -> bool:
    if fact.attribute == "birthday" and isinstance(fact.value, tuple):
        return fact.value[0] >= quantities.month_of(bound)
    value = words.measure(fact.attribute, bound)
    return fact.value >= value if count.at_least else fact.value == value  # type: ignore[operator]


def _recommendations(question: str, reading: Reading, words: Lexicon) -> Gold:
    topics = [topic for topic, cue in words.cues.topics.items() if cue.search(question)]
    items = recommended_items(reading.messages, words, topics)
    if not items:
        raise UnreadError("no message has a recommendation")
    mark = next((each for each in LIST_MARKS if (each == "；") == (words.language == "zh")), LIST_MARKS[0])
    messages = tuple(
        message.message_id
        for message in reading.messages
        if recommended_items([message], words, topics)
    )
    return Gold(mark.join(items), messages, lambda option: sorted(_split(option)) == sorted(items))


def _split(option: str) -> list[str]:
    for mark in LIST_MARKS:
        option = option.replace(mark, "\n")
    return option.split("\n")


def _preference(question: str, reading: Reading, words: Lexicon) -> Gold:
    topics = [topic for topic, cue in words.cues.topics.items() if cue.search(question)]
    if len(topics) != 1:
        raise UnreadError("the question is not about one topic")
    messages = [message for message in reading.messages if liked_items([message], words, topics[0])]
    categories = {words.categories[topics[0]][item] for item in liked_items(messages, words, topics[0])}
    if not categories:
        raise UnreadError("no message names a known item that the user likes")
    if len(categories) > 1:
        raise FaultyError(f"the user likes items of several categories: {', '.join(sorted(categories))}")
    [text] = categories
    ids = tuple(message.message_id for message in messages)
    return Gold(text, ids, lambda option: normalize(option) == normalize(text))


def _mood(happening: str, reading: Reading, words: Lexicon) -> Gold:
    said = normalize(happening)
    sessions = {message.session for message in reading.messages if said in message.text.casefold()}
    if len(sessions) != 1:
        raise UnreadError("the event in the question is not in one session")
    moods = moods_in((each for each in reading.messages if each.session in sessions), words)
    if not moods:
        raise UnreadError("no message of the session shows a known mood")
    if len(moods) > 1:
        raise FaultyError(f"the messages of the session show several moods: {', '.join(sorted(moods))}")
    [(text, messages)] = moods.items()
    return Gold(text, tuple(messages), lambda option: normalize(option) == normalize(text))


def _measured(words: Lexicon, attribute: str, option: str) -> object:
    try:
        return words.measure(attribute, option)
    except ValueError:
        return normalize(option)


def _number(option: str) -> int | None:
    try:
        return quantities.number_in(option)
    except ValueError:
        return None


