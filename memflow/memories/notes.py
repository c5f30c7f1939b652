"""Splitting of messages into searchable texts (messages or sessions), and notes for the prompt from results.

MemoryBench (section 5.1) indexes both messages and sessions.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from memflow.memories.entries import Item
from memflow.memories.memory import Message, Recall
from memflow.memories.verbatim import with_date
from memflow.tokens import estimate, quarters

Grain = Literal["message", "session"]
PARTS = ("date", "speaker", "caption")
"""What an entry has of a message beside its words."""
EMBEDDED = (
    "What is embedded with the words of a message: its date, speaker, and the caption of a shared image."
)
"""The description of the parameter."""


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """An entry to be added, with its text, its source messages and, for a single message, the speaker's role.

    `embedded` is the text that is embedded; None for the text itself.
    """

    text: str
    sources: tuple[str, ...]
    role: str | None = None
    embedded: str | None = None


def split_messages(
    messages: Sequence[Message], grain: Grain, embedded: Collection[str] = PARTS
) -> list[EntryDraft]:
    """Return one draft per message, or one draft for all messages as a session.

    A message without a date gets the date of the message before it. `embedded` are the PARTS of the embedded texts.
    """
    drafts: list[EntryDraft] = []
    session_lines: list[tuple[str, str | None]] = []
    embedded_lines: list[tuple[str, str | None]] = []
    date: str | None = None
    for message in messages:
        date = message.sent_at or date
        line, embedded_line = message.line(), _line_with(message, embedded)
        embedded_date = date if "date" in embedded else None
        session_lines.append((line, date))
        embedded_lines.append((embedded_line, embedded_date))
        embedded_text = with_date(embedded_line, embedded_date)
        drafts.append(EntryDraft(with_date(line, date), (message.message_id,), message.role, embedded_text))
    if grain == "message" or not drafts:
        return drafts
    sources = tuple(message.message_id for message in messages)
    return [EntryDraft(dated_lines(session_lines), sources, embedded=dated_lines(embedded_lines))]


def _line_with(message: Message, parts: Collection[str]) -> str:
    """Return the line of a message with some of the PARTS; the text itself if it is only a caption."""
    words = message.text
    if message.caption and "caption" not in parts:
        words = words.removesuffix(message.caption).rstrip() or words
    return replace(message, text=words).line() if "speaker" in parts else words


def dated_lines(lines: Iterable[tuple[str, str | None]]) -> str:
    """Return (line, date) pairs as text. Each new date precedes its line, unless the line contains the date."""
    output = []
    last_date: str | None = None
    for line, date in lines:
        if date is not None and date != last_date and date not in line:
            output.append(f"[{date}]")
        output.append(line)
        last_date = date
    return "\n".join(output)


def recalled(results: Sequence[Item], budget: float | None = None) -> Recall:
    """Return a Recall of search results (best first), whose notes list the entries in the order of addition.

    With a token `budget`, the result that does not fit and all later results are dropped; only `ranking` lists them.
    """
    recalled_items = list(results)
    if budget is not None:
        # In quarters of a token. A line break, of one quarter, follows each text except the last.
        sizes = accumulate(quarters(item.text) + 1 for item in results)
        recalled_items = [item for item, size in zip(results, sizes, strict=True) if size - 1 <= 4 * budget]
    notes = join_texts(sorted(recalled_items, key=lambda item: item.order))
    dropped_tokens = sum(estimate(item.text) for item in results[len(recalled_items) :])
    return Recall(
        notes=notes,
        entries=tuple(recalled_items),
        injected_tokens=estimate(notes),
        dropped_tokens=dropped_tokens,
        ranking=tuple(results) if len(recalled_items) < len(results) else None,
    )


def join_texts(items: Sequence[Item]) -> str:
    """Return the texts of entries joined by line breaks."""
    return "\n".join(item.text for item in items)


def number_texts(items: Sequence[Item]) -> str:
    """Return the texts of entries as a numbered list, one line each, so that a model can cite them."""
    return "\n".join(f"{number}. {' '.join(item.text.split())}" for number, item in enumerate(items, 1))


def first_within(items: Sequence[Item], budget: int) -> Sequence[Item]:
    """Return the first items that fit into `budget` tokens together, at least one item."""
    sums = accumulate(estimate(item.text) for item in items)
    return items[: max(1, sum(total <= budget for total in sums))]
