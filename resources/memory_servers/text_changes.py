"""How the texts of a memory differ from what was written: cut, or normalized."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile

from memflow.memories.server.protocol import WireItem
from memflow.resources.memory_servers.check_messages import CheckMessage
from memflow.resources.memory_servers.checked_memory import Conversation, contains

SHORT = 300
"""Characters up to which a text has to be in one item. A longer one may be divided among items."""
START = 20
"""Characters by which the start of a text is found in an item."""
CHANGES: Mapping[str, Callable[[str], str]] = {
    "in lower case": str.lower,
    "in upper case": str.upper,
    "without digits": lambda text: re.sub(r"\d", "", text),
    "without accents": lambda text: "".join(
        letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter)
    ),
    "without characters outside ASCII": lambda text: re.sub(r"[^\x00-\x7f]", "", text),
    "without punctuation": lambda text: re.sub(r"[^\w\s]", "", text),
    "in lower case and without punctuation": lambda text: re.sub(r"[^\w\s]", "", text.lower()),
}


def text_change(
    conversation: Conversation, messages: Sequence[CheckMessage], items: Iterable[WireItem]
) -> str:
    """Return what happened to the texts of messages, in words, or an empty text."""
    texts: dict[int, list[str]] = {}
    for item in items:
        for number in conversation.of_item(item):
            texts.setdefault(number, []).append(item.text)
    cut, changed = list[CheckMessage](), list[CheckMessage]()
    for message in (message for message in messages if message.number in texts):
        own = texts[message.number]
        joined = " ".join(own).casefold()
        if any(word not in joined for word in message.words):
            cut.append(message)
        elif len(message.text) <= SHORT and not contains(own, message.text):
            changed.append(message)
    if cut:
        lengths = [len(message.text) for message in cut]
        length = max(_common_start(message.text, text) for message in cut for text in texts[message.number])
        return (
            f"{len(cut)} of {len(messages)} texts came back without their end: those of {min(lengths):,} to "
            f"{max(lengths):,} characters, cut at about {length:,}"
        )
    if len(changed) > 1:
        pairs = [(message.text, texts[message.number]) for message in changed]
        how = next((how for how, change in CHANGES.items() if _explains(change, pairs)), "otherwise")
        return f"{len(changed)} of {len(messages)} texts came back {how}, as {pairs[0][1][0][:60]!r}"
    return ""


def _explains(change: Callable[[str], str], pairs: Iterable[tuple[str, Sequence[str]]]) -> bool:
    """Return whether each text, changed, is in one of the texts beside it. White space does not count."""
    return all(contains(map(_spaces, own), _spaces(change(text))) for text, own in pairs)


def _spaces(text: str) -> str:
    return " ".join(text.split())


def _common_start(text: str, found: str) -> int:
    """Return how many characters of a text are in another one from its start."""
    place = found.casefold().find(text[:START].casefold())
    pairs = zip(text, found[place:], strict=False) if place >= 0 else ()
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
