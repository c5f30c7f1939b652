"""Names of a show's people shuffled, so that who knows the show knows nothing of its answers (DialSim's `shuffle`).

Names are words that stand in speakers' tags, first names and family names alike: whoever is called by one is called by
another in tags, in speech, in questions and in options, and nobody keeps a name. Short forms that no tag has (`Rach`)
are left as they are. The pronouns stay too: a he may be called by the name of a she.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memflow.benchmarks.comem.contexts import Asked, Context, Line
from memflow.fingerprint import seeded

WORD = re.compile(r"[^\W\d_]+")
_TITLES = "mr mrs ms miss mister dr doctor sir aunt uncle grandma grandpa nurse the"
TITLES = frozenset(_TITLES.split())
"""Words of a tag that are no name, in lower case."""
GROUP = re.compile(r"\b(?:and|all|both|every\w+|guys|girls|gang|together)\b|[,&/+]", re.IGNORECASE)
"""What is in the tags of several who speak at once."""
OFTEN = 0.005
"""The share of the lines from which on somebody is a person of the show, also where nobody calls them by name."""
_AMID = re.compile(r"(?:(?<=[a-z,;] )|(?<=M[rs]\. )|(?<=Mrs\. )|(?<=Dr\. ))[^\W\d_]+")
"""A word that no sentence begins with."""


@dataclass(frozen=True)
class Names:
    """Each name and the one that stands in its place. It is a bijection without a fixed point."""

    instead: Mapping[str, str]

    def text(self, text: str) -> str:
        """A text with every name exchanged, also where it stands in capitals."""
        return WORD.sub(lambda word: self._written.get(word[0], word[0]), text)

    def option(self, text: str) -> str:
        """The same for an option, whose names DialSim writes small but for the first letter of all."""
        return WORD.sub(lambda word: self._written.get(word[0], self._small.get(word[0], word[0])), text)

    @property
    def back(self) -> "Names":
        """What gives the original again."""
        return Names({new: old for old, new in self.instead.items()})

    @cached_property
    def _written(self) -> Mapping[str, str]:
        return {**self.instead, **{old.upper(): new.upper() for old, new in self.instead.items()}}

    @cached_property
    def _small(self) -> Mapping[str, str]:
        return {old.lower(): new.lower() for old, new in self.instead.items()}


def shuffled(lines: Sequence[Line], seed: int, show: str) -> Names:
    """The names of a show's people, each exchanged for another of them. Where there is one name alone, it stays."""
    left = names_of(lines)
    chance = random.Random(seeded(seed, "names", show))
    chance.shuffle(left)
    # Everybody takes the name of the next in the ring.
    return Names(dict(zip(left, [*left[1:], *left[:1]], strict=True)) if len(left) > 1 else {})


def names_of(lines: Sequence[Line]) -> list[str]:
    """The words of speakers' tags that are names, in order of the alphabet.

    A name begins with a capital and is not all capitals, is no title, and is spoken amid a sentence, unless its bearer
    speaks often. It stands more often with a capital than as a common word does (`woman`).
    """
    common = Common(line.text for line in lines)
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


class Common:
    """Which words of tags are common words: those that speech writes small more often than with a capital."""

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


def renamed(context: Context, names: Names) -> Context:
    """The context with every name exchanged, in what is said, asked and offered."""
    lines = tuple(
        replace(line, text=names.text(line.text), speaker=line.speaker and names.text(line.speaker))
        for line in context.lines
    )
    return replace(context, lines=lines, asked=tuple(_renamed(asked, names) for asked in context.asked))


def _renamed(asked: Asked, names: Names) -> Asked:
    return replace(
        asked,
        question=names.text(asked.question),
        options=tuple(names.option(option) for option in asked.options),
        true_of=tuple(names.text(speaker) for speaker in asked.true_of),
    )
