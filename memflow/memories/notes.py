"""Splitting of messages into searchable texts (messages or sessions), and notes for the prompt from results.

MemoryBench (section 5.1) indexes both messages and sessions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from memflow.memories.entries import Item
from memflow.memories.memory import Message, Recall
from memflow.memories.verbatim import with_date
from memflow.tokens import estimate, quarters

Grain = Literal["message", "session"]


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """An entry to be added, with its text, its source messages and, for a single message, the speaker's role."""

    text: str
    sources: tuple[str, ...]
    role: str | None = None


def split_messages(messages: Sequence[Message], grain: Grain) -> list[EntryDraft]:
    """Return one draft per message, or one draft for all messages as a session.

    A message without a date gets the date of the message before it.
    """
    drafts, session_lines = [], []
    date: str | None = None
    for message in messages:
        date = message.sent_at or date
        drafts.append(EntryDraft(with_date(message.line(), date), (message.message_id,), message.role))
        session_lines.append((message.line(), date))
    if grain == "message" or not drafts:
        return drafts
    return [EntryDraft(dated_lines(session_lines), tuple(message.message_id for message in messages))]


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


def recalled(results: Sequence[Item], budget: int | None = None) -> Recall:
    """Return a Recall of search results (best first), whose notes list the entries in the order of addition.

    With a token `budget`, the result that does not fit and all later results are dropped; only `ranking` lists them.
    """
    included = list(results)
    if budget is not None:
        # A line break follows each text except the last.
        sums = accumulate(quarters(item.text) + 1 for item in results)
        included = [item for item, end in zip(results, sums, strict=True) if end - 1 <= 4 * budget]
    notes = join_texts(sorted(included, key=lambda item: item.order))
    dropped_tokens = sum(estimate(item.text) for item in results[len(included) :])
    return Recall(
        notes=notes,
        entries=tuple(included),
        injected_tokens=estimate(notes),
        dropped_tokens=dropped_tokens,
        ranking=tuple(results) if len(included) < len(results) else None,
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
