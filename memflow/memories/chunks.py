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
        return (_speaker_prefix(text) if self.start else "") + text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class CutResult:
    """The entries split from a buffer: their drafts (`pieces`), and the number of messages that leave it (`gone`).

    For each draft, `starts` contains the character where the next chunk of tokens starts.
    """

    pieces: list[EntryDraft]
    gone: int
    starts: list[int]


def cut_messages(
    buffer: Sequence[StoredMessage], count: int, unit: str, size: int, overlap: int, start: int = 0
) -> CutResult:
    """Return the entries into which the first `count` messages of a buffer are split by `unit`, one of UNITS.

    A chunk of tokens starts at character `start` of the first message.
    """
    if unit == "message":
        drafts = [EntryDraft(entry.note(), entry.item.sources, entry.item.role) for entry in buffer[:count]]
        return CutResult(drafts, count, [0] * count)
    if unit == "pair":
        groups = pair_messages(buffer, count)
        return CutResult(
            [merge_parts(whole_parts(group)) for group in groups], sum(map(len, groups)), [0] * len(groups)
        )
    chunks = fill_chunks(buffer[:count], size, overlap, start)
    if not chunks:
        return CutResult([], 0, [])
    # The last chunk is not full, so its messages stay in the buffer.
    *full_chunks, last_chunk = chunks
    cut_count = next(index for index, message in enumerate(buffer) if message is last_chunk[0].message)
    starts_of_next_chunks = [parts[0].start for parts in chunks[1:]]
    return CutResult([merge_parts(parts) for parts in full_chunks], cut_count, starts_of_next_chunks)


def pair_messages(buffer: Sequence[StoredMessage], count: int) -> list[Sequence[StoredMessage]]:
    """Return the first `count` messages in groups: a user message with its answer, or a single message.

    The last user message stays in the buffer until its answer leaves the buffer too.
    """
    groups: list[Sequence[StoredMessage]] = []
    start = 0
    while start < count:
        is_user = buffer[start].item.role == "user"
        if is_user and start + 1 == len(buffer):
            break
        size = 2 if is_user and _is_answer(buffer[start], buffer[start + 1]) else 1
        if start + size > count:
            break
        groups.append(buffer[start : start + size])
        start += size
    return groups


def fill_chunks(
    messages: Sequence[StoredMessage], size: int, overlap: int = 0, start: int = 0
) -> list[list[MessagePart]]:
    """Return the messages, from character `start` of the first one, split into chunks of up to `size` tokens.

    Only the last chunk may be shorter. Chunks end between words or Chinese characters; only a word longer than `size` -
    `overlap` tokens is split. Each chunk starts with the last words of the chunk before, up to `overlap` tokens. Dates
    and repeated speaker names do not count.
    """
    words = [
        (MessagePart(message, word_start, word_end), quarters(message.item.text[word_start:word_end]))
        for message in messages
        for word_start, word_end in _words(message.item.text, 4 * (size - overlap))
        if word_end > start or message is not messages[0]
    ]
    if not words:
        return []
    chunks: list[list[MessagePart]] = []
    first_index, size_in_quarters = 0, 0  # of the current chunk
    for index, (_, quarters_of_word) in enumerate(words):
        if size_in_quarters + quarters_of_word > 4 * size:
            chunks.append(_merge_words(part for part, _ in words[first_index:index]))
            first_index, size_in_quarters = index, 0
            # The next chunk starts earlier, with the overlap.
            while size_in_quarters + words[first_index - 1][1] <= 4 * overlap:
                first_index -= 1
                size_in_quarters += words[first_index][1]
        size_in_quarters += quarters_of_word
    chunks.append(_merge_words(part for part, _ in words[first_index:]))
    return chunks


def whole_parts(messages: Sequence[StoredMessage]) -> list[MessagePart]:
    """Return the messages as message parts, one part with the whole text per message."""
    return [MessagePart(message, 0, len(message.item.text)) for message in messages]


def merge_parts(parts: Sequence[MessagePart]) -> EntryDraft:
    """Return the draft of an entry with the lines of several parts, each date once, and their source messages."""
    sources = sources_of(part.message.item for part in parts)
    role = parts[0].message.item.role if len(parts) == 1 else None
    return EntryDraft(dated_lines((part.line(), part.message.date) for part in parts), sources, role)


def _is_answer(message: StoredMessage, next_message: StoredMessage) -> bool:
    """Return whether `next_message` answers `message`: an assistant's message that does not start a new session."""
    # A message that arrives later and on another day starts a session.
    new_session = message.item.since != next_message.item.since and message.date != next_message.date
    return next_message.item.role == "assistant" and not new_session


def _speaker_prefix(line: str) -> str:
    """Return the name of the speaker with which a line begins, with the colon; empty without a name."""
    head = _HEAD.match(line)
    return head[0] if head else ""


def _words(line: str, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each word of a line; words longer than `limit` quarters of a token are split.

    A word includes the space after it; the first word includes the speaker's name before it.
    """
    start = 0
    word_ends = [word.end() for word in _WORD.finditer(line, len(_speaker_prefix(line)))] or [len(line)]
    for end in word_ends:
        if quarters(line[start:end]) > limit:
            for position in range(start + 1, end):
                if quarters(line[start : position + 1]) > limit:
                    yield start, position
                    start = position
        yield start, end
        start = end


def _merge_words(words: Iterator[MessagePart]) -> list[MessagePart]:
    """Return the words as message parts; consecutive words of the same message are merged into one part."""
    parts: list[MessagePart] = []
    for word in words:
        if parts and parts[-1].message is word.message:
            parts[-1] = MessagePart(word.message, parts[-1].start, word.end)
        else:
            parts.append(word)
    return parts
