"""Questions by rule from a script: who says a line, and who said repeated words last.

Their labels need no annotator: an answer is unknown before the line. The answer to the second kind changes with every
repetition.
"""

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

from memflow.benchmarks.comem.contexts import (
    UNKNOWN_OPTION_TEXTS,
    ContextMessage,
    ContextQuestion,
    KnownAnswer,
)
from memflow.benchmarks.comem.sources.dialsim.names import GROUP, OFTEN, TITLES, WORD, CommonWords

WHO_SAID, SAID_LAST = "who_said", "said_last"
_ASKS = {WHO_SAID: 'Who says: "{}"?', SAID_LAST: 'Who was the last to say these words: "{}"?'}
NAMED = 4
"""Number of options that are names; the "not enough information" option comes in addition."""
QUOTED = (6, 40)
"""Minimum and maximum number of words of a quoted line."""
REPEATED = (3, 12)
"""Minimum and maximum number of words of a repeated line."""
TIMES = (2, 8)
"""Minimum and maximum number of repetitions."""
NEAR = 20
"""Number of messages to either side whose speakers count as near."""
_SAID = re.compile(r"[\w'’]+")


@dataclass(frozen=True)
class SpeakerIndex:
    """A context's messages, indexed by speaker and words."""

    messages: Sequence[ContextMessage]

    @cached_property
    def people(self) -> Counter[str]:
        """The speakers that questions are about, with their number of messages: frequent single people, not those
        with a common word as tag (`Woman`)."""
        common = CommonWords(line.text for line in self.messages)
        tags = Counter(line.speaker for line in self.messages if line.speaker)
        return Counter(
            {
                tag: times
                for tag, times in tags.items()
                if times >= OFTEN * len(self.messages)
                and not GROUP.search(tag)
                and any(word.lower() not in TITLES and word not in common for word in WORD.findall(tag))
            }
        )

    @cached_property
    def words(self) -> list[str]:
        """The normalized words of every message, in lower case and between single spaces."""
        return [_plain(line.text) for line in self.messages]

    @cached_property
    def whole(self) -> str:
        """The words of all messages, one message per line."""
        return "\n".join(self.words)

    def places(self, words: str) -> list[int]:
        """Return the positions of the messages that contain these words in sequence."""
        return [place for place, said in enumerate(self.words) if words in said]

    def beside(self, place: int, besides: Sequence[str]) -> list[str]:
        """Return the other people: first the most frequent near that message, then the most frequent."""
        session = self.messages[place].session
        around = self.messages[max(0, place - NEAR) : place + NEAR + 1]
        near = Counter(line.speaker for line in around if line.session == session)
        others = [name for name in self.people if name not in besides]
        return sorted(others, key=lambda name: (-near[name], -self.people[name], name))


def who_said(index: SpeakerIndex, count: int, chance: random.Random) -> list[ContextQuestion]:
    """Return up to `count` questions, one per equal stretch of the messages. Stretches without a suitable line are
    replaced from elsewhere in the context."""
    stretches = [
        range(len(index.messages) * at // count, len(index.messages) * (at + 1) // count)
        for at in range(count)
    ]
    found: dict[int, ContextQuestion] = {}
    for stretch in stretches:
        found |= _some(index, 1, list(stretch), chance)
    left = [place for place in range(len(index.messages)) if place not in found]
    found |= _some(index, count - len(found), left, chance)
    return [found[place] for place in sorted(found)]


def _some(
    index: SpeakerIndex, count: int, places: list[int], chance: random.Random
) -> dict[int, ContextQuestion]:
    """Return questions about up to `count` of these positions."""
    chance.shuffle(places)
    asked = ((place, one) for place in places if (one := _said(index, place, chance)))
    return dict(islice(asked, count))


def _said(index: SpeakerIndex, place: int, chance: random.Random) -> ContextQuestion | None:
    line, words = index.messages[place], index.words[place]
    if line.speaker is None or line.speaker not in index.people or not _quotable(line.text, words, QUOTED):
        return None
    options = [line.speaker, *index.beside(place, [line.speaker])[: NAMED - 1]]
    # A person named in the line is not its speaker, which would be a hint.
    if len(options) < 2 or _hints(line.text, options) or index.whole.count(words) > 1:
        return None
    return _context_question(
        f"{WHO_SAID}_{place}", WHO_SAID, line.text, options, [(place, line.speaker)], chance
    )


def said_last(index: SpeakerIndex, count: int, chance: random.Random) -> list[ContextQuestion]:
    """Return up to `count` questions about words that at least two people say in turn."""
    places = list(range(len(index.messages)))
    chance.shuffle(places)
    found: dict[str, ContextQuestion] = {}
    for place in places:
        if len(found) == count:
            break
        words = index.words[place]
        if words not in found and (asked := _last(index, place, chance)):
            found[words] = asked
    return list(found.values())


def _last(index: SpeakerIndex, place: int, chance: random.Random) -> ContextQuestion | None:
    line, words = index.messages[place], index.words[place]
    least, most = TIMES
    if not _quotable(line.text, words, REPEATED) or not least <= index.whole.count(words) <= most:
        return None
    said = [(at, index.messages[at].speaker or "") for at in index.places(words)]
    speakers = list(dict.fromkeys(speaker for _, speaker in said))
    known = all(speaker in index.people for speaker in speakers)
    changes = any(one != other for (_, one), (_, other) in pairwise(said))
    if not known or not changes or len(speakers) > NAMED:
        return None
    options = [*speakers, *index.beside(said[-1][0], speakers)][:NAMED]
    return (
        None
        if _hints(line.text, options)
        else _context_question(f"{SAID_LAST}_{place}", SAID_LAST, line.text, options, said, chance)
    )


def _context_question(
    question_id: str,
    kind: str,
    quoted: str,
    options: list[str],
    said: Sequence[tuple[int, str]],
    chance: random.Random,
) -> ContextQuestion:
    chance.shuffle(options)
    known = tuple(KnownAnswer(at + 1, options.index(speaker) + 1, (at,)) for at, speaker in said)
    return ContextQuestion(
        question_id=question_id,
        question=_ASKS[kind].format(quoted),
        options=(*options, UNKNOWN_OPTION_TEXTS["en"]),
        answer=known[-1].answer,
        category=kind,
        known=known,
        true_of=(*options, ""),
    )


def _quotable(text: str, words: str, size: tuple[int, int]) -> bool:
    least, most = size
    return "\n" not in text and least <= len(words.split()) <= most


def _hints(text: str, options: Sequence[str]) -> bool:
    """Return whether a text names one of the options, in full or by its first three letters (`Rach`)."""
    called = {word[:3] for word in WORD.findall(text) if word[0].isupper()}
    words = (word for option in options for word in WORD.findall(option) if word.lower() not in TITLES)
    return any(word[:3] in called for word in words)


def _plain(text: str) -> str:
    return f" {' '.join(_SAID.findall(text.replace('’', chr(39)).casefold()))} "
