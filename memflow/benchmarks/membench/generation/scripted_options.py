"""Wrong options of the scripted simulator, which have the form of the correct option.

A wrong option is another word of the same list, another address of the same person, a near number or another opinion.
"""

import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from string import Template

from memflow.benchmarks.membench.generation.vocabulary import Language, Vocabulary, bundled_vocabulary

_NUMBER = re.compile(r"\d+")
_MAIL = re.compile(r"([a-z]+)(\.?)([a-z]+)@(.+)")
_PROVIDERS = ("example.com", "example.org", "example.net")
_NUMERALS: Mapping[Language, tuple[tuple[str, ...], ...]] = {
    "en": (
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
        ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
    ),
    "zh": (("一", "两", "三", "四", "五", "六", "七", "八", "九"),),
}
"""Number words; those of one row are interchangeable."""
_TENS_ZH = ("", *"二三四五六七八九")
_OPINIONS: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "It is better than I expected, but I would not choose it again.",
        "I like it a lot, only it is a little too expensive.",
        "It is all right for now, though there are better ones.",
    ),
    "zh": (
        "比我预想的好，不过下次不会再选它。",
        "我挺喜欢的，就是价格高了一点。",
        "眼下还凑合，不过有更好的。",
    ),
}
"""Wrong options for a text that is in no list."""


def near_options(answer: str, language: Language, rng: random.Random) -> Iterator[str]:
    """Yield wrong variants of `answer`: other words of its list, other addresses, other numbers, other opinions."""
    for group in _word_groups(language):
        if answer in group:
            yield from rng.sample(group, len(group))
    yield from _refilled(answer, language, rng)
    if mail := _MAIL.fullmatch(answer):
        yield from _addresses(mail, rng)
    elif numbers := list(_NUMBER.finditer(answer)):
        last = numbers[-1]
        near = _near_numbers(last[0])
        for number in rng.sample(near, len(near)):
            yield f"{answer[: last.start()]}{number}{answer[last.end() :]}"
    if language == "zh" and "十" in answer:
        tens = answer[answer.index("十") :]
        yield from (f"{one}{tens}" for one in rng.sample(_TENS_ZH, len(_TENS_ZH)))
    for row in _NUMERALS[language]:
        one = rf"\b(?:{'|'.join(row)})\b" if language == "en" else "|".join(row)
        if re.search(one, answer):
            yield from (_plural(re.sub(one, other, answer, count=1)) for other in rng.sample(row, len(row)))
    yield from rng.sample(_OPINIONS[language], len(_OPINIONS[language]))


def _near_numbers(number: str) -> list[str]:
    """Return other numbers of the same length: near numbers, or, for a number up to 31, other days of a month.

    The last digits of a phone number stay in the range that is reserved for fiction.
    """
    size, value = len(number), int(number)
    low, high = (0, 199 if number.startswith("01") else 10**size - 1)
    if not number.startswith("0"):
        low, high = 10 ** (size - 1), 28 if value <= 31 else high
    near = range(max(low, value - 9), min(high, value + 9) + 1)
    return [str(each).zfill(size) for each in near if each != value]


def _addresses(mail: re.Match[str], rng: random.Random) -> Iterator[str]:
    """Yield e-mail addresses of the same person: at other providers, then with the given name's initial or a digit."""
    given, dot, family, domain = mail.groups()
    for provider in rng.sample(_PROVIDERS, len(_PROVIDERS)):
        if provider != domain:
            yield f"{given}{dot}{family}@{provider}"
    if dot:
        yield f"{given[0]}{dot}{family}@{domain}"
        yield f"{family}{dot}{given}@{domain}"
    yield from (f"{given}{dot}{family}{digit}@{domain}" for digit in rng.sample(range(1, 10), 9))


def _plural(text: str) -> str:
    """Return an English duration with the unit in the number that agrees with the count: `one day`, `two days`."""
    singular = re.sub(r"\bone (day|week|month)s\b", r"one \1", text)
    return re.sub(r"\b(two|three|four|five|six|seven|eight|nine) (day|week|month)\b", r"\1 \2s", singular)


@cache
def _word_groups(language: Language) -> tuple[tuple[str, ...], ...]:
    """Return lists of words. Any word of a list can be a wrong option for any other word of the same list."""
    words: Vocabulary = bundled_vocabulary(language)
    events = (*words.work_events, *words.rest_events)
    return (
        tuple(city.name for city in words.cities),
        words.educations,
        tuple(occupation.name for occupation in words.occupations),
        *(each.positions for each in words.occupations),
        *(each.seniors for each in words.occupations),
        tuple(name for each in words.occupations for name in (*each.positions, *each.seniors)),
        tuple(words.hobbies),
        tuple(event.type for event in events),
        *(
            group
            for things in (words.items, words.places)
            for group in (
                tuple(thing.type for thing in things),
                *(each.names for each in things),
                tuple(name for each in things for name in each.names),
                *(each.reviews for each in things),
                tuple(review for each in things for review in each.reviews),
            )
        ),
    )


def _refilled(answer: str, language: Language, rng: random.Random) -> Iterator[str]:
    """Yield names like the answer, with another given name (of a person) or another tag (of a company)."""
    words = bundled_vocabulary(language)
    separator = " " if language == "en" else ""
    for names in words.given.values():
        for family in words.family:
            for given in names:
                whole = Template(words.name).substitute(given=given, family=family)
                if whole == answer:
                    others = rng.sample(list(names), len(names))
                    yield from (Template(words.name).substitute(given=one, family=family) for one in others)
    for tag in words.tags:
        if answer.startswith(f"{tag}{separator}"):
            rest = answer[len(tag) :]
            yield from (f"{other}{rest}" for other in rng.sample(list(words.tags), len(words.tags)))
