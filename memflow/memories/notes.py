"""What a search is over: messages or whole sessions as text, and what was found as notes for the prompt.

MemoryBench (section 5.1) indexes both grains; how they are searched is the memory's own business.
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
    """An entry to be: its text, the messages it came from, and whose words it holds if it is one message."""

    text: str
    sources: tuple[str, ...]
    role: str | None = None


def split_messages(messages: Sequence[Message], grain: Grain) -> list[EntryDraft]:
    """Messages that arrived together, cut to `grain`: a piece for each, or all of them as one session.

    A message without a date was said at the date of the one before it.
    """
    found, session = [], []
    date: str | None = None
    for message in messages:
        date = message.sent_at or date
        found.append(EntryDraft(with_date(message.line(), date), (message.message_id,), message.role))
        session.append((message.line(), date))
    if grain == "message" or not found:
        return found
    return [EntryDraft(dated_lines(session), tuple(message.message_id for message in messages))]


def dated_lines(lines: Iterable[tuple[str, str | None]]) -> str:
    """Lines with their dates, one below the other; a date stands where it changes and the line does not say it."""
    shown = []
    before: str | None = None
    for line, date in lines:
        if date is not None and date != before and date not in line:
            shown.append(f"[{date}]")
        shown.append(line)
        before = date
    return "\n".join(shown)


def recalled(found: Sequence[Item], budget: int | None = None) -> Recall:
    """What was found, best first; its notes in the order in which it was said, so that what is new stands last.

    With a `budget` of tokens, the best entries that fit, until the first that does not; the rest are counted as
    dropped, and stand in the ranking alone.
    """
    kept = list(found)
    if budget is not None:
        # Each with the line break that joins it to the next; what is joined has one less.
        sums = accumulate(quarters(item.text) + 1 for item in found)
        kept = [item for item, sum_ in zip(found, sums, strict=True) if sum_ - 1 <= 4 * budget]
    notes = join_texts(sorted(kept, key=lambda item: item.order))
    dropped = sum(estimate(item.text) for item in found[len(kept) :])
    return Recall(
        notes=notes,
        entries=tuple(kept),
        injected_tokens=estimate(notes),
        dropped_tokens=dropped,
        ranking=tuple(found) if len(kept) < len(found) else None,
    )


def join_texts(items: Sequence[Item]) -> str:
    """The entries' texts, one below the other."""
    return "\n".join(item.text for item in items)


def number_texts(items: Sequence[Item]) -> str:
    """The entries' texts for a model that refers to them by number: `3. Caroline: Hey!`, each on one line."""
    return "\n".join(f"{number}. {' '.join(item.text.split())}" for number, item in enumerate(items, 1))


def first_within(items: Sequence[Item], budget: int) -> Sequence[Item]:
    """The first of `items` that fit into `budget` tokens together: at least the very first."""
    sums = accumulate(estimate(item.text) for item in items)
    return items[: max(1, sum(total <= budget for total in sums))]
