"""What `memflow memories check` writes and asks, always the same: short messages, and a long conversation made by code.

Every message of the conversation has words that occur in no other one, so that an item of any shape shows which
messages it is from. Kinds of messages alternate: lengths from a word to several thousand characters, scripts, dates,
numbers, code, near-duplicates. check_data.toml has the texts.
"""

import datetime
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from itertools import count, cycle, islice

from memflow.memories.design import Role
from memflow.memories.server.protocol import SentMessage
from memflow.resources.memory_servers.concentration import Traits

_DATA = tomllib.loads(files(__package__).joinpath("check_data.toml").read_text(encoding="utf-8"))
SECRETS, CODE_QUERY, OLD_DATES = _DATA["secrets"], _DATA["code_query"], _DATA["dates"]
"""Two short messages with unique words, a query for both, and their dates."""
WORDS = ("xylophone", "zeppelin")
"""The unique words of the short messages."""
ODD_TEXTS: dict[str, str] = _DATA["odd_texts"]
COMMON: list[str] = _DATA["common"]
PHRASES = _DATA["phrases"]
SESSION = 30
"""Messages of one session, which share a date."""
SCATTER = 100_003
"""A prime number, so that the numbers of words map to different words."""
FIRST_DAY = datetime.date(2015, 3, 2)
QUERIES, QUERIES_OF_SCRIPT = 24, 6
MARKS = {"accents": ["é"], "emoji": ["🙂"]}
"""Characters of the kind in a query for its messages, whose unique words are plain."""


def message(number: int, text: str, role: Role = "user", sent_at: str | None = None) -> SentMessage:
    """Return a message of the check."""
    return SentMessage(id=f"check-{number}", role=role, text=text, sent_at=sent_at)


@dataclass(frozen=True)
class CheckMessage:
    """A message of the conversation. `words` are the words that only it contains, in the order of its text."""

    number: int
    kind: str
    role: Role
    text: str
    sent_at: str
    words: tuple[str, ...]

    @property
    def session(self) -> int:
        """The number of its session, from 1."""
        return (self.number - 1) // SESSION + 1

    @property
    def query(self) -> str:
        """Two of its words, with which nothing else is found by words."""
        return " ".join(self.words[:2])

    @property
    def script(self) -> str:
        """The script of its words."""
        return self.kind if self.kind in _DATA["syllables"] else "Latin"

    @cached_property
    def traits(self) -> Traits:
        """What it may have in common with other messages that are lost."""
        return {
            "session": self.session,
            "role": self.role,
            "ascii": self.text.isascii(),
            "script": self.script,
            "digits": _has_digit(self.text),
            "near-duplicate": self.kind == "duplicate",
            "code": self.kind == "code",
            "length": len(self.text),
        }


def check_messages(size: int, first_word: int = 0) -> tuple[CheckMessage, ...]:
    """Return the first `size` messages of a conversation; another `first_word` gives one with other words."""
    return tuple(islice(_messages(first_word), size))


def _messages(first_word: int) -> Iterator[CheckMessage]:
    numbers = count(first_word)
    for number, (kind, template) in enumerate(cycle(_DATA["templates"].items()), 1):
        syllables = _DATA["syllables"].get(kind, _DATA["syllables"]["Latin"])
        further = _DATA["sentences"].get(kind, 0)
        own = (1 if kind in ("word", "duplicate") else 2) + further
        words = [unique_word(next(numbers), syllables) for _ in range(own)]
        written = words if kind == "code" else [word.capitalize() for word in words]
        text = template.format(*written, common=COMMON[number % len(COMMON)])
        text += "".join(_DATA["sentence"].format(word) for word in written[own - further :])
        day = FIRST_DAY + datetime.timedelta(days=61 * ((number - 1) // SESSION))
        role: Role = "assistant" if number % 2 == 0 else "user"
        yield CheckMessage(number, kind, role, text, f"{day}T09:30:00", tuple(words))


def unique_word(number: int, syllables: Sequence[str]) -> str:
    """Return the invented word with a number: four syllables of a script."""
    size, word = len(syllables), ""
    number = number * SCATTER % size**4  # so that neighbors are not alike
    for _ in range(4):
        number, place = divmod(number, size)
        word += syllables[place]
    return word


def words_of(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(re.findall(r"\w+", text.casefold()))


def queries_for(messages: Sequence[CheckMessage]) -> Iterator[tuple[CheckMessage, str, Traits]]:
    """Yield queries with the words of messages in several styles: message, query and traits."""
    latin = [message for message in messages if message.kind == "statement"] or [*messages]
    lengths, padding = _DATA["lengths"], _DATA["padding"].split()
    for number, message in zip(range(QUERIES), cycle(latin), strict=False):
        long = [*message.words[:2], *message.text.split(), *padding]
        for query in (
            message.query,
            f"What did I say about {message.query}?",
            " ".join(long[: lengths[number % len(lengths)]]),
            f"{message.query} 2031",
        ):
            yield message, query, _traits(message, query)
    for script in ("Chinese", "Cyrillic", "Arabic", "accents", "emoji"):
        others = [message for message in messages if message.kind == script]
        for number, message in zip(range(QUERIES_OF_SCRIPT), cycle(others), strict=False):
            words = message.words[:2] if number < len(others) else reversed(message.words[:2])
            query = " ".join([*words, *MARKS.get(script, ())])
            yield message, query, _traits(message, query)


def _traits(message: CheckMessage, query: str) -> Traits:
    return {
        "words": len(query.split()),
        "digits": _has_digit(query),
        "question": query.endswith("?"),
        "ascii": query.isascii(),
        "script": message.script,
    }


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)
