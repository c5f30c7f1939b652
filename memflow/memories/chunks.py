"""Splitting of the messages that leave a buffer into entries: single messages, pairs, or chunks of tokens.

CoMem (section 4) embeds pairs of user and assistant messages, or overlapping chunks of 300 tokens. A chunk is added
when it is full; chunks do not depend on how messages arrive.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memflow.memories.entries import sources_of
from memflow.memories.notes import EntryDraft, dated_lines
from memflow.memories.verbatim import StoredMessage
from memflow.tokens import WIDE, quarters

UNITS = ("message", "pair", "tokens")
"""The units into which buffered messages can be split."""

_HEAD = re.compile(r"[^\n]*?: ")
_WORD = re.compile(rf"[{WIDE}][^\w\s]*\s*|[^\s{WIDE}]+\s*|\s+")


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of a message, from the character `start` to `end`."""

    message: StoredMessage
    start: int
    end: int

    def line(self) -> str:
        """Return the text of the part; the first part of a message begins with the speaker's name."""
        text = self.message.item.text
        return (_head(text) if self.start else "") + text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class CutResult:
    """The entries split from a buffer: their drafts (`pieces`), and the number of messages that leave it (`gone`).

    For each draft, `starts` contains the character where the next chunk of tokens starts.
    """

    pieces: list[EntryDraft]
    gone: int
    starts: list[int]


def cut_messages(
    held: Sequence[StoredMessage], leaving: int, unit: str, size: int, overlap: int, start: int = 0
) -> CutResult:
    """Return the entries into which the first `leaving` messages of a buffer are split by `unit`, one of UNITS.

    A chunk of tokens starts at character `start` of the first message.
    """
    if unit == "message":
        alone = [EntryDraft(one.note(), one.item.sources, one.item.role) for one in held[:leaving]]
        return CutResult(alone, leaving, [0] * leaving)
    if unit == "pair":
        groups = pair_messages(held, leaving)
        return CutResult(
            [merge_parts(whole_parts(group)) for group in groups], sum(map(len, groups)), [0] * len(groups)
        )
    chunks = fill_chunks(held[:leaving], size, overlap, start)
    # The last one is not full: it begins where the next full one will.
    gone = next((at for at, one in enumerate(held) if chunks and one is chunks[-1][0].message), 0)
    return CutResult(
        [merge_parts(chunk) for chunk in chunks[:-1]], gone, [chunk[0].start for chunk in chunks[1:]]
    )


def pair_messages(held: Sequence[StoredMessage], leaving: int) -> list[Sequence[StoredMessage]]:
    """Return the first `leaving` messages in groups: a user message with its answer, or a single message.

    The last user message stays in the buffer until its answer leaves the buffer too.
    """
    found: list[Sequence[StoredMessage]] = []
    at = 0
    while at < leaving:
        asked = held[at].item.role == "user"
        if asked and at + 1 == len(held):
            break
        size = 2 if asked and _answers(held[at], held[at + 1]) else 1
        if at + size > leaving:
            break
        found.append(held[at : at + size])
        at += size
    return found


def fill_chunks(
    messages: Sequence[StoredMessage], size: int, overlap: int = 0, start: int = 0
) -> list[list[MessagePart]]:
    """Return the messages, from character `start` of the first one, split into chunks of up to `size` tokens.

    Only the last chunk may be shorter. Chunks end between words or Chinese characters; only a word longer than `size` -
    `overlap` tokens is split. Each chunk starts with the last words of the chunk before, up to `overlap` tokens. Dates
    and repeated speaker names do not count.
    """
    words = [
        (MessagePart(message, begin, end), quarters(message.item.text[begin:end]))
        for message in messages
        for begin, end in _words(message.item.text, 4 * (size - overlap))
        if end > start or message is not messages[0]
    ]
    chunks: list[list[MessagePart]] = []
    first, weight = 0, 0
    for at, (_, more) in enumerate(words):
        if weight + more > 4 * size:
            chunks.append(_joined(part for part, _ in words[first:at]))
            first, weight = at, 0
            while weight + words[first - 1][1] <= 4 * overlap:
                first -= 1
                weight += words[first][1]
        weight += more
    return [*chunks, _joined(part for part, _ in words[first:])] if words else []


def whole_parts(messages: Sequence[StoredMessage]) -> list[MessagePart]:
    """Return the messages as message parts, one part with the whole text per message."""
    return [MessagePart(message, 0, len(message.item.text)) for message in messages]


def merge_parts(parts: Sequence[MessagePart]) -> EntryDraft:
    """Return the draft of an entry with the lines of several parts, each date once, and their source messages."""
    sources = sources_of(part.message.item for part in parts)
    role = parts[0].message.item.role if len(parts) == 1 else None
    return EntryDraft(dated_lines((part.line(), part.message.date) for part in parts), sources, role)


def _answers(asked: StoredMessage, next_: StoredMessage) -> bool:
    # What came later and on another day is the start of a session, not an answer.
    apart = asked.item.since != next_.item.since and asked.date != next_.date
    return next_.item.role == "assistant" and not apart


def _head(line: str) -> str:
    head = _HEAD.match(line)
    return head[0] if head else ""


def _words(line: str, most: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each word of a line; words longer than `most` quarters of a token are split.

    A word includes the space after it; the first word includes the speaker's name before it.
    """
    begin = 0
    for end in [word.end() for word in _WORD.finditer(line, len(_head(line)))] or [len(line)]:
        if quarters(line[begin:end]) > most:
            for place in range(begin + 1, end):
                if quarters(line[begin : place + 1]) > most:
                    yield begin, place
                    begin = place
        yield begin, end
        begin = end


def _joined(words: Iterator[MessagePart]) -> list[MessagePart]:
    """Return the words as message parts; consecutive words of the same message are merged into one part."""
    parts: list[MessagePart] = []
    for word in words:
        if parts and parts[-1].message is word.message:
            parts[-1] = MessagePart(word.message, parts[-1].start, word.end)
        else:
            parts.append(word)
    return parts
