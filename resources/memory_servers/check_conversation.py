"""The conversation of `memflow memories check`: some 300 messages made by code, always the same.

Every message has words that occur in no other one, so that an item of any shape shows which messages it is from.
Kinds of messages alternate: lengths from a word to several thousand characters, scripts, dates, numbers, code,
near-duplicates.
"""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice

from memflow.memories.design import Role
from memflow.memories.server.protocol import SentMessage

COMMON = ("garden", "market", "station")
"""Words that most messages contain one of, so that a short query matches many."""
SESSION = 30
"""Messages of one session, which share a date."""
SCATTER = 100_003
"""A prime number, so that the numbers of words map to different words."""
FIRST_DAY = datetime.date(2015, 3, 2)

_LATIN = [first + last for first in "bdfglm" for last in "aeio"]
_CYRILLIC = [first + last for first in "бдфглм" for last in "аеио"]
_ARABIC = [first + last for first in "بدفلمنرس" for last in "اوي"]
_CHINESE = list("墨兰奇森维卡罗莫达尼洛菲桑巴图里安格贝塔诺瓦希")
_SYLLABLES = {"Latin": _LATIN, "Cyrillic": _CYRILLIC, "Arabic": _ARABIC, "Chinese": _CHINESE}

TEMPLATES = {
    "statement": "My colleague {0} moved to {1} last spring and repairs clocks behind the {common}.",
    "word": "{0}.",
    "accents": "Ma voisine {0} a déménagé à {1} cet été, près du café «Zoë», et répare des vélos là-bas.",
    "numbers": "The invoice of {0} was 1,482.50 euros, paid on 14 March 2014 at 17:45; ask {1} at the {common}.",
    "Chinese": "我的同事，{0}，搬到了，{1}，在那里修理旧钟表。",
    "paragraph": "{0} and {1} planned the fair beside the {common}.",
    "Cyrillic": "Моя соседка {0} переехала в {1} и чинит там старые часы.",
    "code": "```python\ndef {0}(value):\n    return {1}[value] or None  # near the {common}\n```",
    "essay": "{0} and {1} wrote about the old {common} for the town.",
    "emoji": "Great news 🎉 {0} passed the driving test 🙂 and we celebrate with {1} at the {common} 🥳",
    "Arabic": "انتقلت جارتي {0} إلى {1} وهي تصلح الساعات القديمة هناك.",
    "duplicate": "The spare key of the rowing club beside the market is with {0}, and the caretaker has none.",
    "report": "{0} asked {1} for a long report about the {common}.",
}
"""The kinds of messages, in turn. Two words of a message's own replace {0} and {1}."""
SENTENCES = {"paragraph": 4, "essay": 14, "report": 45}
"""Further sentences of long messages; each has a word of its own."""
SENTENCE = " Then {0} explained at length why nothing there had ever been finished in time."
PADDING = tuple(
    re.findall(
        r"\w+",
        "please kindly consider everything previously mentioned during our earlier exchanges before answering "
        "because precise details matter greatly whenever someone wants reliable information regarding certain "
        "persons places events which might otherwise become confused among similar ones thus take whatever "
        "seems relevant under these circumstances then respond using only facts that were actually stated "
        "without speculation whatsoever ",
    )
)
"""Words that the conversation does not contain, to make queries long."""


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
    def id(self) -> str:
        """The id, which the messages of other spaces have as well."""
        return f"check-{self.number}"

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
        return self.kind if self.kind in _SYLLABLES else "Latin"

    def sent(self) -> SentMessage:
        """Return the message as it is sent to a server with dates."""
        return SentMessage(id=self.id, role=self.role, text=self.text, sent_at=self.sent_at)


def check_messages(size: int, first_word: int = 0) -> tuple[CheckMessage, ...]:
    """Return the first `size` messages of a conversation; another `first_word` gives one with other words."""
    return tuple(islice(_messages(first_word), size))


def _messages(first_word: int) -> Iterator[CheckMessage]:
    numbers = count(first_word)
    kinds = tuple(TEMPLATES)
    for number in count(1):
        kind = kinds[(number - 1) % len(kinds)]
        letters = _SYLLABLES.get(kind, _LATIN)

        def word(letters: list[str] = letters) -> str:
            return unique_word(next(numbers), letters)

        words = [word(), *([] if kind in ("word", "duplicate") else [word()])]
        own = words if kind == "code" else [each.capitalize() for each in words]
        text = TEMPLATES[kind].format(*own, common=COMMON[number % len(COMMON)])
        for _ in range(SENTENCES.get(kind, 0)):
            words.append(word())
            text += SENTENCE.format(words[-1].capitalize())
        day = FIRST_DAY + datetime.timedelta(days=61 * ((number - 1) // SESSION))
        role: Role = "assistant" if number % 2 == 0 else "user"
        yield CheckMessage(number, kind, role, text, f"{day}T09:30:00", tuple(words))


def unique_word(number: int, letters: list[str] = _LATIN) -> str:
    """Return the invented word with a number: four syllables of a script."""
    size, syllables = len(letters), []
    number = number * SCATTER % size**4  # so that neighbors are not alike
    for _ in range(4):
        number, place = divmod(number, size)
        syllables.append(letters[place])
    return "".join(syllables)


def words_of(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(re.findall(r"\w+", text.casefold()))
