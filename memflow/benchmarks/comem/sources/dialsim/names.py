"""Replacement of people's names in a show, so that general knowledge of the show does not help (DialSim's `shuffle`).

Names are the words of speaker tags, both first and family names. Each name is replaced by another one in tags,
messages, questions and options. Short forms that no tag contains (`Rach`) and pronouns stay.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memflow.benchmarks.comem.contexts import Context, ContextMessage, ContextQuestion
from memflow.fingerprint import seeded

WORD = re.compile(r"[^\W\d_]+")
_TITLES = "mr mrs ms miss mister dr doctor sir aunt uncle grandma grandpa nurse the"
TITLES = frozenset(_TITLES.split())
"""Words of a tag that are not names, in lower case."""
GROUP = re.compile(r"\b(?:and|all|both|every\w+|guys|girls|gang|together)\b|[,&/+]", re.IGNORECASE)
"""Words in the tags of several speakers."""
OFTEN = 0.005
"""Share of messages from which on a speaker is a main character, even if nobody mentions the name."""
_AMID = re.compile(r"(?:(?<=[a-z,;] )|(?<=M[rs]\. )|(?<=Mrs\. )|(?<=Dr\. ))[^\W\d_]+")
"""A word that does not begin a sentence."""


@dataclass(frozen=True)
class NameMapping:
    """A bijective mapping of names in which no name maps to itself."""

    instead: Mapping[str, str]

    def text(self, text: str) -> str:
        """Return the text with every name replaced, including names in capital letters."""
        return WORD.sub(lambda word: self._written.get(word[0], word[0]), text)

    def option(self, text: str) -> str:
        """Return an option with every name replaced, including lower-case names.

        DialSim capitalizes only the first letter of an option.
        """
        return WORD.sub(lambda word: self._written.get(word[0], self._small.get(word[0], word[0])), text)

    @cached_property
    def _written(self) -> Mapping[str, str]:
        return {**self.instead, **{old.upper(): new.upper() for old, new in self.instead.items()}}

    @cached_property
    def _small(self) -> Mapping[str, str]:
        return {old.lower(): new.lower() for old, new in self.instead.items()}


def shuffle_names(lines: Sequence[ContextMessage], seed: int, show: str) -> NameMapping:
    """Return a random mapping of each name in a show to another name. A show with one name has an empty mapping."""
    left = names_of(lines)
    chance = random.Random(seeded(seed, "names", show))
    chance.shuffle(left)
    # Each name is replaced by the next one, cyclically.
    return NameMapping(dict(zip(left, [*left[1:], *left[:1]], strict=True)) if len(left) > 1 else {})


def names_of(lines: Sequence[ContextMessage]) -> list[str]:
    """Return the sorted words of speaker tags that are names.

    A name is capitalized, is not a title, and occurs within a sentence or belongs to a frequent speaker. Unlike a
    common word (`woman`), a name is capitalized in more than half of its occurrences.
    """
    common = CommonWords(line.text for line in lines)
    tags = Counter(line.speaker for line in lines if line.speaker)
    tagged: Counter[str] = Counter()
    for tag, times in tags.items():
        for word in WORD.findall(tag):
            tagged[word] += times
    found: dict[str, str] = {}
    for word, times in sorted(tagged.items(), key=lambda each: (-each[1], each[0])):
        called = common.amid[word] > 0 or times >= OFTEN * len(lines)
        if _written_as_name(word) and called and word not in common:
            found.setdefault(word.lower(), word)
    return sorted(found.values())


class CommonWords:
    """The words that are written in lower case more often than capitalized in the messages."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.small: Counter[str] = Counter()
        self.amid: Counter[str] = Counter()
        for text in texts:
            self.small.update(word for word in WORD.findall(text) if word.islower())
            self.amid.update(_AMID.findall(text))

    def __contains__(self, word: str) -> bool:
        return self.small[word.lower()] > self.amid[word]


def _written_as_name(word: str) -> bool:
    small, large = word.lower(), word.upper()
    plain = large.lower() == small and small.upper() == large
    return (
        plain
        and len(word) > 1
        and word[0].isupper()
        and word != large
        and not (small in TITLES or GROUP.match(word))
    )


def rename_people(context: Context, names: NameMapping) -> Context:
    """Return the context with every name replaced in messages, questions and options."""
    lines = tuple(
        replace(line, text=names.text(line.text), speaker=line.speaker and names.text(line.speaker))
        for line in context.messages
    )
    return replace(
        context, messages=lines, questions=tuple(_renamed(asked, names) for asked in context.questions)
    )


def _renamed(asked: ContextQuestion, names: NameMapping) -> ContextQuestion:
    return replace(
        asked,
        question=names.text(asked.question),
        options=tuple(names.option(option) for option in asked.options),
        true_of=tuple(names.text(speaker) for speaker in asked.true_of),
    )
