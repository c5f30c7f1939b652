"""The examiner: it reads messages and questions by cue words, and recomputes golds without the plan.

Only the user's own statements count: quoted sentences, claims of others and the assistant's messages state nothing.
The last statement of a fact holds until a request ends it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache
from typing import Any, Literal

from memflow.benchmarks.packaged import load_yaml
from memflow.benchmarks.retraction.load import Words
from memflow.records import Probe, Turn

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_ZH_DAY = re.compile(r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_ACTS = ("forget", "restricted", "claimed")
_CACHED = 20_000
"""Sentences whose cue words are found once. The scripted chat reads the same messages for every question."""
Key = tuple[str, str]
"""The owner (empty for the user) and the name of a fact."""


class UnreadError(Exception):
    """The examiner cannot read a question."""


@dataclass(frozen=True)
class Cues:
    """The compiled cue words of examination.yaml."""

    facts: dict[str, re.Pattern[str]]
    topics: dict[str, re.Pattern[str]]
    owners: dict[str, re.Pattern[str]]
    audiences: dict[str, re.Pattern[str]]
    members: dict[str, list[str]]
    marks: dict[str, re.Pattern[str]]
    day: re.Pattern[str]
    months: list[str]


@cache
def cues() -> Cues:
    """Return the cue words."""
    content: dict[str, Any] = load_yaml(__package__, "examination.yaml")
    months = content.pop("months")
    groups = {
        name: {key: re.compile(cue, re.IGNORECASE) for key, cue in content.pop(name).items()}
        for name in ("facts", "topics", "owners", "audiences")
    }
    members = content.pop("members")
    marks = {name: re.compile(cue, re.IGNORECASE) for name, cue in content.items()}
    day = re.compile(rf"(\d{{1,2}}) ({'|'.join(months)}) (\d{{4}})", re.IGNORECASE)
    return Cues(**groups, members=members, marks=marks, day=day, months=months)


@dataclass(frozen=True)
class Line:
    """A message as it is read: who said it, the text, and the day, if known."""

    role: Literal["user", "assistant"]
    text: str
    day: date | None = None


@dataclass
class Knowledge:
    """What the user's messages state so far: the value of each fact with its day, and who may not be told."""

    words: Words
    values: dict[Key, tuple[str, date | None]] = field(default_factory=dict)
    restricted: set[tuple[Key, str]] = field(default_factory=set)
    ended: set[Key] = field(default_factory=set)
    """The facts that a request ended, also those that were never told."""

    def read(self, line: Line) -> None:
        """Apply one message."""
        if line.role != "user":
            return
        for act, sentence in _acts(line.text):
            if act == "forget":
                self._forget(sentence, line)
            elif act == "restricted":
                self.restricted |= {
                    (key, audience) for key in _keys(sentence) for audience in _audiences(sentence)
                }
            elif act == "state":
                self._state(sentence, line)

    def _state(self, sentence: str, line: Line) -> None:
        for owner, name in _keys(sentence):
            values = _values(sentence, self.words, name)
            if len(values) == 1:
                self.values[owner, name] = values[0], line.day

    def _forget(self, sentence: str, line: Line) -> None:
        marks, day = cues().marks, read_day(sentence)
        if marks["everything"].search(sentence):
            ended = [*self.values]
        elif day is not None:
            ended = [key for key, (_, stated) in self.values.items() if stated == day]
        elif marks["about"].search(sentence):
            topics = [topic for topic, cue in cues().topics.items() if cue.search(sentence)]
            ended = [("", name) for topic in topics for name in cues().members[topic]]
        else:
            ended = [*_keys(sentence)]
        for key in ended:
            self.values.pop(key, None)
            self.ended.add(key)

    def answer(self, question: str, options: Sequence[str] = ()) -> str:
        """Return the right answer to a question, in the words of its options. Raises UnreadError."""
        words, marks = self.words, cues().marks
        keys = _keys(question)
        if len(keys) != 1:
            raise UnreadError(f"the question names {len(keys)} facts: {question}")
        key = keys[0]
        value = self.values[key][0] if key in self.values else None
        if any((key, audience) in self.restricted for audience in _audiences(question)):
            value = None
        if value is None:
            return words.cannot_say
        if marks["confirms"].search(question):
            named = _values(question, words, key[1])
            if len(named) != 1:
                raise UnreadError(f"the question names {len(named)} values: {question}")
            return words.yes if named[0] == value else words.no
        if options and value not in options:
            return words.cannot_say
        return value


def read_day(text: str) -> date | None:
    """Return the first day in a text, such as `14 March 2026`, or None."""
    if match := _ISO.search(text) or _ZH_DAY.search(text):
        year, month, day = match.groups()
    elif match := cues().day.search(text):
        day, name, year = match.groups()
        month = str(1 + [known.lower() for known in cues().months].index(name.lower()))
    else:
        return None
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


@lru_cache(_CACHED)
def _acts(text: str) -> tuple[tuple[str, str], ...]:
    """Return the sentences of a message, without quotations: each with its act, one of _ACTS or `state`."""
    marks = cues().marks
    return tuple(
        (next((act for act in _ACTS if marks[act].search(sentence)), "state"), sentence)
        for sentence in _SENTENCE.split(marks["quoted"].sub("", text))
    )


@lru_cache(_CACHED)
def _keys(sentence: str) -> tuple[Key, ...]:
    owner = next((name for name, cue in cues().owners.items() if cue.search(sentence)), "")
    return tuple((owner, name) for name, cue in cues().facts.items() if cue.search(sentence))


def read_requests(text: str) -> set[tuple[str, tuple[Key, ...]]]:
    """Return (act, facts) of each sentence that does more than state facts: `forget`, `restricted` or `claimed`."""
    return {(act, _keys(sentence)) for act, sentence in _acts(text) if act != "state"}


def _audiences(text: str) -> list[str]:
    return [name for name, cue in cues().audiences.items() if cue.search(text)]


@cache
def _value_cue(value: str) -> re.Pattern[str]:
    joined = re.escape(value)
    return re.compile(rf"(?<!\w){joined}(?!\w)" if value.isascii() and not value.isdigit() else joined)


def _values(sentence: str, words: Words, name: str) -> tuple[str, ...]:
    return _values_in(sentence, words.facts[name].values)


@lru_cache(_CACHED)
def _values_in(sentence: str, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if _value_cue(value).search(sentence))


def read_lines(words: Words, lines: Iterable[Line]) -> Knowledge:
    """Return what messages state, in the order of their days; lines without a day follow the line before them."""
    knowledge, last = Knowledge(words), date.min
    ordered: list[tuple[date, Line]] = []
    for line in lines:
        last = line.day or last
        ordered.append((last, line))
    for _, line in sorted(ordered, key=lambda pair: pair[0]):
        knowledge.read(line)
    return knowledge


@dataclass(frozen=True)
class Examination:
    """The outcome of examining a probe: its recomputed answer, or the reason why there is none."""

    answer: str | None
    reason: str = ""


def examine(probes: Sequence[Probe], turns: Iterable[Turn], words: dict[str, Words]) -> list[Examination]:
    """Return the recomputed answer to each probe, in order, from the messages up to its checkpoint."""
    by_episode: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.reason is None:
            by_episode.setdefault(turn.episode_id, []).append(turn)
    known: dict[tuple[str, int], Knowledge] = {}

    def knowledge(probe: Probe) -> Knowledge:
        moment = probe.episode_id, probe.checkpoint
        if moment not in known:
            said = [turn for turn in by_episode.get(moment[0], []) if turn.checkpoint <= probe.checkpoint]
            known[moment] = read_lines(words[probe.language], map(turn_line, said))
        return known[moment]

    return [_examine(probe, knowledge(probe)) for probe in probes]


def _examine(probe: Probe, knowledge: Knowledge) -> Examination:
    try:
        return Examination(knowledge.answer(probe.question, probe.options))
    except UnreadError as unread:
        return Examination(None, str(unread))


def turn_line(turn: Turn) -> Line:
    """Return a message as the examiner reads it."""
    role: Literal["user", "assistant"] = "assistant" if turn.role == "assistant" else "user"
    return Line(role, turn.text, read_day(turn.sent_at or ""))


def gold_text(probe: Probe) -> str:
    """Return the gold of a probe as text."""
    return probe.options[int(probe.gold) - 1] if probe.options else probe.gold
