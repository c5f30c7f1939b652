"""How the texts of a memory differ from what was written: cut, or normalized."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

from memflow.memories.server.protocol import WireItem
from memflow.resources.memory_servers.check_conversation import CheckMessage
from memflow.resources.memory_servers.conversation_record import CheckedConversation

SHORT = 300
"""Characters up to which a text has to be in one item. A longer one may be divided among items."""


def _without_accents(text: str) -> str:
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter)
    )


CHANGES: Mapping[str, Callable[[str], str]] = {
    "in lower case": str.lower,
    "in upper case": str.upper,
    "without digits": lambda text: re.sub(r"\d", "", text),
    "without accents": _without_accents,
    "without characters outside ASCII": lambda text: re.sub(r"[^\x00-\x7f]", "", text),
    "without punctuation": lambda text: re.sub(r"[^\w\s]", "", text),
    "in lower case and without punctuation": lambda text: re.sub(r"[^\w\s]", "", text.lower()),
}


def text_change(
    conversation: CheckedConversation, messages: Sequence[CheckMessage], items: Iterable[WireItem]
) -> str:
    """Return what happened to the texts of messages, in words, or an empty text."""
    texts: dict[int, list[str]] = {}
    for item in items:
        for number in conversation.of_item(item):
            texts.setdefault(number, []).append(item.text)
    cut: list[tuple[CheckMessage, int]] = []
    changed: list[CheckMessage] = []
    for message in messages:
        found = texts.get(message.number, [])
        joined = " ".join(found).casefold()
        absent = [word for word in message.words if word not in joined]
        if absent and found:
            cut.append((message, max(_common_start(message.text, text) for text in found)))
        elif found and len(message.text) <= SHORT and not any(message.text in text for text in found):
            changed.append(message)
    if cut:
        lengths = [len(message.text) for message, _ in cut]
        most = max(kept for _, kept in cut)
        return (
            f"{len(cut)} of {len(messages)} texts came back without their end: those of {min(lengths):,} to "
            f"{max(lengths):,} characters, cut at about {most:,}"
        )
    if len(changed) > 1:
        example = changed[0]
        for what, change in CHANGES.items():
            normalized = [_spaces(change(message.text)) for message in changed]
            got = [[_spaces(text) for text in texts[message.number]] for message in changed]
            equal = sum(
                any(text in other for other in found) for text, found in zip(normalized, got, strict=True)
            )
            if equal == len(changed):
                return f"{len(changed)} of {len(messages)} texts came back {what}, as {texts[example.number][0][:60]!r}"
        return f"{len(changed)} of {len(messages)} texts came back otherwise, as {texts[example.number][0][:60]!r}"
    return ""


def _spaces(text: str) -> str:
    return " ".join(text.split())


def _common_start(text: str, found: str) -> int:
    """Return how many characters of a text are in another one from its start."""
    start = text[:20].casefold()
    place = found.casefold().find(start)
    if place < 0:
        return 0
    rest = found[place:]
    return next(
        (at for at, (first, second) in enumerate(zip(text, rest, strict=False)) if first != second),
        min(len(text), len(rest)),
    )
