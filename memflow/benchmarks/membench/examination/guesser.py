"""A guesser that answers questions without any message: it excludes options by rules and knows the whole vocabulary.

An option is excluded if it is not of the kind that is asked for, if it contradicts what the question states, if other
options echo the question, or if its form differs from that of the others. The guesser reads questions and options only;
it knows neither the plans nor which attributes the generator keeps apart.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from memflow.benchmarks.membench.examination import quantities
from memflow.benchmarks.membench.examination.cues import AskedAttribute, Comparison
from memflow.benchmarks.membench.examination.facts import SEASONS, option_number
from memflow.benchmarks.membench.examination.lexicon import ITEM, PERSON, PLACE, Lexicon, lexicon, normalize
from memflow.benchmarks.membench.examination.reflections import MARKS
from memflow.benchmarks.membench.examination.statements import TextReading, read_text
from memflow.benchmarks.membench.examination.worlds import (
    CLOSED,
    Worlds,
    event_amounts,
    intersect,
    possible_worlds,
    told_types,
)
from memflow.benchmarks.membench.generation.preferences import TOPICS
from memflow.benchmarks.membench.generation.vocabulary import Language
from memflow.records import Probe
from memflow.words import search_words

_SENTENCE_END = re.compile(r"[.!?] |[。！？]")
_NUMERAL = re.compile(r"[\d一二两三四五六七八九十百千]")
_PHONE_ENDINGS = {"en": [f"55501{number:02}" for number in range(100)], "zh": ["0000000", "0999999"]}
"""Endings of phone numbers, between whose digit sums all others lie."""
_JOB = ("occupation", "position", "company", "education")
_TYPED = ("item_type", "place_type", "name", "review")


@dataclass(frozen=True)
class Guess:
    """The options that the guesser does not exclude, by position, and the rules that exclude the others."""

    options: tuple[int, ...]
    rules: tuple[str, ...]
    gold: int

    @property
    def expected_accuracy(self) -> float:
        """The probability that a random one of the options is right."""
        return (self.gold in self.options) / len(self.options)


def guess(probe: Probe) -> Guess:
    """Return the guess for a question with options."""
    language: Language = "zh" if probe.language == "zh" else "en"
    return Guess(*_left_options(probe.question, tuple(probe.options), language), int(probe.gold) - 1)


@lru_cache(maxsize=65536)
def _left_options(
    text: str, options: tuple[str, ...], language: Language
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the positions of the options that no rule excludes, and the rules that exclude the others."""
    question = _Question(text, options, lexicon(language))
    left, rules = list(range(len(options))), list[str]()
    for name, rule in _RULES.items():
        plausible = rule(question)
        better = [place for place in left if plausible[place]]
        if better and better != left:
            left, rules = better, [*rules, name]
    return tuple(left), tuple(rules)


@dataclass(frozen=True)
class _Question:
    text: str
    options: tuple[str, ...]
    words: Lexicon

    @cached_property
    def core(self) -> str:
        """The question without the small talk before the sentence that asks for the attribute."""
        match = self.asked.asks.search(self.text) if self.asked else None
        before = [end.end() for end in _SENTENCE_END.finditer(self.text, 0, match.start() if match else 0)]
        return self.text[before[-1] :] if before else self.text

    @cached_property
    def reading(self) -> TextReading:
        return read_text(self.text, self.words.language)

    @cached_property
    def compared(self) -> Comparison | None:
        return next((cue for cue in self.words.cues.compared if cue.asks.search(self.text)), None)

    @cached_property
    def several(self) -> bool:
        """Whether the question compares or counts entities."""
        cues = self.words.cues
        patterns = [cue.asks for cue in (*cues.compared, *cues.compared_places)]
        return any(pattern.search(self.text) for pattern in (*patterns, *(cue.asks for cue in cues.counted)))

    @cached_property
    def asked(self) -> AskedAttribute | None:
        """The attribute that a question about one entity asks for."""
        if self.several:
            return None
        return next((cue for cue in self.words.cues.asked if cue.asks.search(self.text)), None)

    def value(self, option: str) -> str | None:
        """Return the value of the asked attribute that an option states or is derived from. None: no such value."""
        asked, language, number = self.asked, self.words.language, option_number(option)
        if asked is None:
            return None
        value: str | None = normalize(option)
        match asked.derives, number:
            case None, _:
                value = self._stated(asked.attribute, option)
            case ("digit_sum", int()):
                match = asked.asks.search(self.text)
                last = -int(match["digits"]) if match else 0
                sums = [sum(map(int, ending[last:])) for ending in _PHONE_ENDINGS[language]]
                value = value if min(sums) <= number <= max(sums) else None
            case "mail_domain", _:
                value = value if re.fullmatch(r"[\w-]+\.[a-z]+", value or "") else None
            case "season", _:
                value = value if value in SEASONS[language] else None
            case "description", _:
                names = self.words.descriptions.get(asked.attribute, {})
                value = next((name for name, known in names.items() if normalize(known) == value), None)
            case ("half", int()):
                value = str(2 * number)
            case ("hours", int()):
                value = str(number // 24) if number % 24 == 0 else None
            case _, None:
                value = None
        unknown = (
            asked.attribute in CLOSED and value and not possible_worlds(asked.attribute, value, self.words)
        )
        return None if unknown else value

    def _stated(self, attribute: str, option: str) -> str | None:
        words, sorts = self.words, {mention.sort for mention in self.reading.mentions if not mention.named}
        match attribute:
            case "time":
                stated = quantities.moment_in(option) is not None
            case "item_type" | "place_type":
                stated = normalize(option) in words.cues.telling
            case "name":
                kinds = sorts or {PERSON, ITEM, PLACE}
                stated = any(words.mentions[sort, True].fullmatch(option) for sort in kinds)
            case _:
                stated = words.values[attribute].fullmatch(option.rstrip(".。")) is not None
        return option if stated else None


def _is_of_kind(question: _Question) -> list[bool]:
    """Return for each option whether it is of the kind that the question asks for."""
    cues, words, text, options = question.words.cues, question.words, question.text, question.options
    topics = {topic for topic, cue in cues.topics.items() if cue.search(text)}
    if cues.mood_asked.search(text):
        plausible = [option in cues.moods for option in options]
    elif cues.recommendations_asked.search(text):
        mark = MARKS[words.language]
        lists = [
            [{topic for topic in TOPICS if item in words.categories[topic]} for item in option.split(mark)]
            for option in options
        ]
        plausible = [all(of & topics for of in items) and topics <= set.union(*items) for items in lists]
    elif cues.preference_asked.search(text):
        plausible = [
            any(option in words.categories[topic].values() for topic in topics) for option in options
        ]
    elif question.asked is not None:
        plausible = [question.value(option) is not None for option in options]
    elif question.compared is not None:
        plausible = [re.split("[,，]", option)[0] in text for option in options]
    else:
        plausible = [option_number(option) is not None for option in options]
    return plausible


def _is_consistent(question: _Question) -> list[bool]:
    """Return for each option whether it is possible by what the question states."""
    asked, words = question.asked, question.words
    if asked is None:
        return [True] * len(question.options)
    values = [*question.reading.values]
    people = [mention for mention in question.reading.mentions if mention.sort == PERSON]
    core = question.core
    for mention in people:  # 教师 is a job, and no part of 带教师傅
        core = core.replace(mention.text, "…")
    # Words of a job stand in a question without the cue that a statement has.
    values += [(name, match[0]) for name in _JOB if (match := words.values[name].search(core))]
    values += [("name" if mention.named else "relation", mention.text) for mention in people]
    stated = [possible_worlds(name, text, words) for name, text in values if name != asked.attribute]
    stated.append({"event": told_types(question.core, "event", words)})
    possible = intersect(stated)
    attribute = "email" if asked.derives == "mail_domain" else asked.attribute
    known = asked.derives not in ("digit_sum", "length", "season")
    own: list[Worlds] = [
        possible_worlds(attribute, value, words) if known and (value := question.value(option)) else {}
        for option in question.options
    ]
    return [all(possible.get(aspect, of) & of for aspect, of in worlds.items()) for worlds in own]


def _is_told(question: _Question) -> list[bool]:
    """Return for each option whether it and the question tell the same type of thing; if none does, not another."""
    asked, words = question.asked, question.words
    are_people = all(words.mentions[PERSON, True].fullmatch(option) for option in question.options)
    if are_people or asked is None or asked.attribute not in _TYPED or asked.derives is not None:
        return [True] * len(question.options)
    stated = told_types(question.core, "thing", words)
    told = [told_types(option, "thing", words) for option in question.options]
    same = [bool(stated & types) for types in told]
    return same if any(same) else [not (stated and types) for types in told]


def _is_ahead(question: _Question) -> list[bool]:
    """Return for each option of a comparison whether the events that it names can be ahead by their names."""
    comparison, words = question.compared, question.words
    if comparison is None or comparison.attribute not in ("scale", "duration"):
        return [True] * len(question.options)
    amounts = [
        event_amounts(told_types(option, "event", words), comparison.attribute, words.language)
        for option in question.options
    ]
    least = max((min(own) for own in amounts if own), default=0)
    return [not own or max(own) >= least for own in amounts]


def _echoes(question: _Question) -> list[bool]:
    """Return for each option whether half of the words in which it differs from others are in the question."""
    if question.several:
        return [True] * len(question.options)
    words = [{word for word in search_words(option) if not _is_number(word)} for option in question.options]
    common, asked = set.intersection(*words), set(search_words(question.core))
    return [bool(own - common) and len((own - common) & asked) * 2 >= len(own - common) for own in words]


def _is_number(word: str) -> bool:
    try:
        return len(word) == 1 or quantities.number_in(word) > 0
    except ValueError:
        return False


def _has_common_form(question: _Question) -> list[bool]:
    """Return for each option whether it has the signs and the unit that most options have."""
    if question.several:
        return [True] * len(question.options)
    forms = [_form(option, question.words) for option in question.options]
    form, count = Counter(forms).most_common(1)[0]
    return [own == form or count <= len(forms) / 2 for own in forms]


def _form(option: str, words: Lexicon) -> tuple[object, ...]:
    patterns = quantities.PATTERNS[words.language]
    amount = any(re.fullmatch(patterns[name], option) for name in ("age", "height", "scale", "duration"))
    unit = _NUMERAL.sub("", option).split()[-1].rstrip("s") if amount else ""
    return bool(re.search(r"\d", option)), "@" in option, MARKS[words.language] in option, unit


def _is_amid(question: _Question) -> list[bool]:
    """Return for each list of items whether no other list is more like all others."""
    lists = [set(option.split(MARKS[question.words.language])) for option in question.options]
    distances = [sum(len(own ^ other) for other in lists) for own in lists]
    return [distance == min(distances) or max(map(len, lists)) == 1 for distance in distances]


_RULES: Mapping[str, Callable[[_Question], list[bool]]] = {
    "kind": _is_of_kind,
    "stated": _is_consistent,
    "type": _is_told,
    "name": _is_ahead,
    "words": _echoes,
    "form": _has_common_form,
    "lists": _is_amid,
}
"""Rules by name, in the order in which they exclude options."""
