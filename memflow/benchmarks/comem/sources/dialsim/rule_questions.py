"""Questions that a script answers by itself: who says a line, and who was the last to say words that several say.

Their keys are by rule, so that they need no annotator: before a line is said nobody can know who says it. Both ask to
whom something belongs among many who speak, which is where memories of many-sided talk go wrong; the second changes its
answer each time the words are said again.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

from memflow.benchmarks.comem.contexts import Asked, Known, Line
from memflow.benchmarks.comem.sources.dialsim.names import GROUP, OFTEN, TITLES, WORD, Common
from memflow.benchmarks.comem.wording import UNKNOWING

WHO_SAID, SAID_LAST = "who_said", "said_last"
_ASKS = {WHO_SAID: 'Who says: "{}"?', SAID_LAST: 'Who was the last to say these words: "{}"?'}
NAMED = 4
"""Options that name somebody; one more says that there is no telling."""
QUOTED = (6, 40)
"""Words of a line that is asked about."""
REPEATED = (3, 12)
"""Words of a line that others say too."""
TIMES = (2, 8)
"""How often words are said of which it is asked who said them last."""
NEAR = 20
"""Lines to either side whose speakers are near a line."""
_SAID = re.compile(r"[\w'’]+")


@dataclass(frozen=True)
class Told:
    """A context's lines, and what can be said of who speaks."""

    lines: Sequence[Line]

    @cached_property
    def people(self) -> Counter[str]:
        """Those of whom it can be asked, with the number of their lines: single people who speak often, and not those
        who are called by a common word, which may be several (`Woman`)."""
        common = Common(line.text for line in self.lines)
        tags = Counter(line.speaker for line in self.lines if line.speaker)
        return Counter(
            {
                tag: times
                for tag, times in tags.items()
                if times >= OFTEN * len(self.lines)
                and not GROUP.search(tag)
                and any(word.lower() not in TITLES and word not in common for word in WORD.findall(tag))
            }
        )

    @cached_property
    def words(self) -> list[str]:
        """The words of every line, as they are compared: ` small and between single spaces `."""
        return [_plain(line.text) for line in self.lines]

    @cached_property
    def whole(self) -> str:
        """The words of all lines, each on its own."""
        return "\n".join(self.words)

    def places(self, words: str) -> list[int]:
        """The lines in which these words stand side by side."""
        return [place for place, said in enumerate(self.words) if words in said]

    def beside(self, place: int, besides: Sequence[str]) -> list[str]:
        """The other people: first who speak most near that line, then who speak most."""
        session = self.lines[place].session
        around = self.lines[max(0, place - NEAR) : place + NEAR + 1]
        near = Counter(line.speaker for line in around if line.session == session)
        others = [name for name in self.people if name not in besides]
        return sorted(others, key=lambda name: (-near[name], -self.people[name], name))


def who_said(told: Told, count: int, chance: random.Random) -> list[Asked]:
    """Up to `count` questions, spread evenly: one for each equal stretch of the lines. For a stretch that has no line
    to ask about, another line of the context is asked about."""
    stretches = [
        range(len(told.lines) * at // count, len(told.lines) * (at + 1) // count) for at in range(count)
    ]
    found: dict[int, Asked] = {}
    for stretch in stretches:
        found |= _some(told, 1, list(stretch), chance)
    left = [place for place in range(len(told.lines)) if place not in found]
    found |= _some(told, count - len(found), left, chance)
    return [found[place] for place in sorted(found)]


def _some(told: Told, count: int, places: list[int], chance: random.Random) -> dict[int, Asked]:
    """Up to `count` of these places and what is asked about their lines."""
    chance.shuffle(places)
    asked = ((place, one) for place in places if (one := _said(told, place, chance)))
    return dict(islice(asked, count))


def _said(told: Told, place: int, chance: random.Random) -> Asked | None:
    line, words = told.lines[place], told.words[place]
    if line.speaker is None or line.speaker not in told.people or not _quotable(line.text, words, QUOTED):
        return None
    options = [line.speaker, *told.beside(place, [line.speaker])[: NAMED - 1]]
    # Who is spoken of or to in the line is not who says it: that would be a hint.
    if len(options) < 2 or _hints(line.text, options) or told.whole.count(words) > 1:
        return None
    return _asked(f"{WHO_SAID}_{place}", WHO_SAID, line.text, options, [(place, line.speaker)], chance)


def said_last(told: Told, count: int, chance: random.Random) -> list[Asked]:
    """Up to `count` questions about words that at least two people say one after the other."""
    places = list(range(len(told.lines)))
    chance.shuffle(places)
    found: dict[str, Asked] = {}
    for place in places:
        if len(found) == count:
            break
        words = told.words[place]
        if words not in found and (asked := _last(told, place, chance)):
            found[words] = asked
    return list(found.values())


def _last(told: Told, place: int, chance: random.Random) -> Asked | None:
    line, words = told.lines[place], told.words[place]
    least, most = TIMES
    if not _quotable(line.text, words, REPEATED) or not least <= told.whole.count(words) <= most:
        return None
    said = [(at, told.lines[at].speaker or "") for at in told.places(words)]
    speakers = list(dict.fromkeys(speaker for _, speaker in said))
    known = all(speaker in told.people for speaker in speakers)
    changes = any(one != other for (_, one), (_, other) in pairwise(said))
    if not known or not changes or len(speakers) > NAMED:
        return None
    options = [*speakers, *told.beside(said[-1][0], speakers)][:NAMED]
    return (
        None
        if _hints(line.text, options)
        else _asked(f"{SAID_LAST}_{place}", SAID_LAST, line.text, options, said, chance)
    )


def _asked(
    question_id: str,
    kind: str,
    quoted: str,
    options: list[str],
    said: Sequence[tuple[int, str]],
    chance: random.Random,
) -> Asked:
    chance.shuffle(options)
    known = tuple(Known(at + 1, options.index(speaker) + 1, (at,)) for at, speaker in said)
    return Asked(
        question_id=question_id,
        question=_ASKS[kind].format(quoted),
        options=(*options, UNKNOWING["en"]),
        answer=known[-1].answer,
        category=kind,
        known=known,
        true_of=(*options, ""),
    )


def _quotable(text: str, words: str, size: tuple[int, int]) -> bool:
    least, most = size
    return "\n" not in text and least <= len(words.split()) <= most


def _hints(text: str, options: Sequence[str]) -> bool:
    """Whether a text has a word that may call one of these: a name, or what begins as one does (`Rach`)."""
    called = {word[:3] for word in WORD.findall(text) if word[0].isupper()}
    return any(word[:3] in called for word in _names(options))


def _names(options: Sequence[str]) -> Iterator[str]:
    for option in options:
        yield from (word for word in WORD.findall(option) if word.lower() not in TITLES)


def _plain(text: str) -> str:
    return f" {' '.join(_SAID.findall(text.replace('’', chr(39)).casefold()))} "
