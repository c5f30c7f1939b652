"""What leaves a buffer, cut into entries-to-be: each message, pairs, or chunks of so many tokens.

CoMem (section 4 and its notes on chunk sizes) gives RAG pairs of neighbouring user and assistant messages, and
overlapping chunks of 300 tokens where messages are lines of a script. Here nothing is cut before it is full: what
fills no entry yet stays where it was. Chunks are the same however the messages arrived, one by one or all at once.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memflow.memories.notes import EntryDraft, dated_lines
from memflow.memories.verbatim import StoredMessage
from memflow.tokens import WIDE, quarters

UNITS = ("message", "pair", "tokens")
"""What a buffer's messages can be cut into."""

_HEAD = re.compile(r"[^\n]*?: ")
_WORD = re.compile(rf"[{WIDE}][^\w\s]*\s*|[^\s{WIDE}]+\s*|\s+")


@dataclass(frozen=True, slots=True)
class MessagePart:
    """What a chunk holds of a message: its line from character `start` up to `end`."""

    message: StoredMessage
    start: int
    end: int

    def line(self) -> str:
        """The words; where they are a message's later ones, whoever says them is named again."""
        text = self.message.item.text
        return (_head(text) if self.start else "") + text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class CutResult:
    """Entries to be, and how many messages are done with.

    `starts` says for each piece where the one after it begins: that many characters into a message.
    """

    pieces: list[EntryDraft]
    gone: int
    starts: list[int]


def cut_messages(
    held: Sequence[StoredMessage], leaving: int, unit: str, size: int, overlap: int, start: int = 0
) -> CutResult:
    """The first `leaving` messages of a buffer, cut by `unit`, one of UNITS.

    A chunk of tokens begins at character `start` of the first message: what stands before is done with.
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
    """The first `leaving` messages, a user's with the assistant's answer right after it, any other alone.

    A user's last message is held back while its answer has not come, or does not leave yet.
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
    """The messages' lines from character `start` of the first, in chunks as full as `size` tokens allow.

    Only the last one may not be full. Chunks are cut between words, or Chinese characters; only a word of more than
    `size` - `overlap` tokens is cut itself. Each begins with as many words from the end of the one before as `overlap`
    tokens hold. Dates, and the speaker who is named again, come on top.
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
    """Messages as parts that leave nothing out."""
    return [MessagePart(message, 0, len(message.item.text)) for message in messages]


def merge_parts(parts: Sequence[MessagePart]) -> EntryDraft:
    """The parts as an entry to be: their lines, each date once, and all the messages they come from."""
    sources = dict.fromkeys(source for part in parts for source in part.message.item.sources)
    role = parts[0].message.item.role if len(parts) == 1 else None
    return EntryDraft(dated_lines((part.line(), part.message.date) for part in parts), tuple(sources), role)


def _answers(asked: StoredMessage, next_: StoredMessage) -> bool:
    # What came later and on another day is the start of a session, not an answer.
    apart = asked.item.since != next_.item.since and asked.date != next_.date
    return next_.item.role == "assistant" and not apart


def _head(line: str) -> str:
    head = _HEAD.match(line)
    return head[0] if head else ""


def _words(line: str, most: int) -> Iterator[tuple[int, int]]:
    """Where the words of a line begin and end, none of more than `most` quarters of a token.

    The space after a word is its own, and so is the speaker before the first.
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
    """Words that follow each other, as one part for each message."""
    parts: list[MessagePart] = []
    for word in words:
        if parts and parts[-1].message is word.message:
            parts[-1] = MessagePart(word.message, parts[-1].start, word.end)
        else:
            parts.append(word)
    return parts
