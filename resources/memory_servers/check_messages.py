"""What `memflow memories check` writes and asks, always the same: short messages, and a long conversation made by code.

Every message of the conversation has words that occur in no other one, so that an item of any shape shows which
messages it is from. Kinds of messages alternate: lengths from a word to several thousand characters, scripts, dates,
numbers, code, near-duplicates. check_data.toml has the texts.
"""

import datetime
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import count, cycle, islice
from typing import Any

from memflow.memories.memory import Message

_DATA = tomllib.loads(files(__package__).joinpath("check_data.toml").read_text(encoding="utf-8"))
SECRETS, CODE_QUERY, OLD_DATES = _DATA["secrets"], _DATA["code_query"], _DATA["dates"]
"""Two short messages with unique words, a query for both, and their dates."""
WORDS = ("xylophone", "zeppelin")
"""The unique words of the short messages."""
COMMON: list[str] = _DATA["common"]
BROAD = " ".join(COMMON)
"""A query for most messages."""
PHRASES = _DATA["phrases"]
SESSION = 30
"""Messages of one session, which share a date."""
SCATTER = 100_003
"""A prime number, so that the numbers of words map to different words."""
FIRST_DAY = datetime.date(2015, 3, 2)
QUERIES, QUERIES_OF_SCRIPT = 24, 6
MARKS = {"accents": ["é"], "emoji": ["🙂"]}
"""Characters of the kind in a query for its messages, whose unique words are plain."""
FAILING, WORKING = 0.8, 0.15
"""A split explains failures if at least this share fails on one side, and at most this share on the other."""
Traits = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckMessage(Message):
    """A message of the conversation. `words` are the words that only it contains, in the order of its text."""

    session: int
    kind: str
    words: tuple[str, ...]

    @property
    def query(self) -> str:
        """Two of its words, with which nothing else is found by words."""
        return " ".join(self.words[:2])

    def traits(self, text: str) -> Traits:
        """Return what the message, or a query for it, may have in common with others that are lost."""
        return {
            "session": self.session,
            "role": self.role,
            "ascii": text.isascii(),
            "script": self.kind if self.kind in _DATA["syllables"] else "Latin",
            "digits": any(letter.isdigit() for letter in text),
            "near-duplicate": self.kind == "duplicate",
            "code": self.kind == "code",
            "question": text.endswith("?"),
            "words": len(text.split()),
            "length": len(text),
        }


def check_messages(size: int, first_word: int = 0) -> list[CheckMessage]:
    """Return the first `size` messages of a conversation; another `first_word` gives one with other words."""
    numbers, messages = count(first_word), list[CheckMessage]()
    for number, (kind, template) in zip(range(size), cycle(_DATA["templates"].items()), strict=False):
        syllables = _DATA["syllables"].get(kind, _DATA["syllables"]["Latin"])
        further = _DATA["sentences"].get(kind, 0)
        own = (1 if kind in ("word", "duplicate") else 2) + further
        words = [unique_word(next(numbers), syllables) for _ in range(own)]
        written = words if kind == "code" else [word.capitalize() for word in words]
        text = template.format(*written, common=COMMON[(number + 1) % len(COMMON)])
        text += "".join(_DATA["sentence"].format(word) for word in written[own - further :])
        session = number // SESSION
        message = CheckMessage(
            message_id=f"check-{number + 1}",
            role="user" if number % 2 == 0 else "assistant",
            text=text,
            sent_at=f"{FIRST_DAY + datetime.timedelta(days=61 * session)}T09:30:00",
            session=session + 1,
            kind=kind,
            words=tuple(words),
        )
        messages.append(message)
    return messages


def unique_word(number: int, syllables: Sequence[str]) -> str:
    """Return the invented word with a number: four syllables of a script."""
    size = len(syllables)
    number = number * SCATTER % size**4  # so that neighbors are not alike
    return "".join(syllables[number // size**place % size] for place in range(4))


def words_of(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(re.findall(r"\w+", text.casefold()))


def queries_for(messages: Sequence[CheckMessage]) -> Iterator[tuple[CheckMessage, str]]:
    """Yield (message, query) pairs; a query has words of its message, in one of several styles."""
    latin = [message for message in messages if message.kind == "statement"] or [*messages]
    lengths, padding = _DATA["lengths"], _DATA["padding"].split()
    for number, message in zip(range(QUERIES), cycle(latin), strict=False):
        long = [*message.words[:2], *message.text.split(), *padding]
        yield message, message.query
        yield message, f"What did I say about {message.query}?"
        yield message, " ".join(long[: lengths[number % len(lengths)]])
        yield message, f"{message.query} 2031"
    for script in ("Chinese", "Cyrillic", "Arabic", "accents", "emoji"):
        others = [message for message in messages if message.kind == script]
        for message in islice(cycle(others), QUERIES_OF_SCRIPT):
            yield message, " ".join([message.query, *MARKS.get(script, ())])


def concentration(
    items: Sequence[tuple[Traits, bool]], phrases: Mapping[str, Sequence[str]], side: int
) -> str:
    """Return where failures concentrate, in words, or an empty text.

    Each item has traits, and whether it is fine. A split of one trait needs `side` items on both sides. `phrases` has
    those of check_data.toml. Health (memflow/scoring/health) tests splits of real data, which are less clear.
    """
    best, text = (0.0, 0), ""
    for trait, sides in phrases.items():
        for value in sorted({traits[trait] for traits, _ in items} - {False}):
            for phrase, wanted in zip(sides, (True, False), strict=True):
                inside = [fine for traits, fine in items if _is_on_side(traits[trait], value) is wanted]
                outside = [fine for traits, fine in items if _is_on_side(traits[trait], value) is not wanted]
                if min(len(inside), len(outside)) < side:
                    continue
                failed, other = inside.count(False), outside.count(False)
                quality = (round(failed / len(inside) - other / len(outside), 3), failed)
                if failed >= FAILING * len(inside) and other <= WORKING * len(outside) and quality > best:
                    best = quality
                    words = phrase.format(f"{value:,}" if type(value) is int else value)
                    text = f"{failed} of {len(inside)} {words}, and {other} of {len(outside)} others"
    return text


def _is_on_side(trait: Any, value: Any) -> bool:
    return bool(trait > value if type(value) is int else trait == value)
