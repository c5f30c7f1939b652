"""The recall of a memory server: notes for the prompt from the items that it returned."""

from collections.abc import Sequence
from dataclasses import replace

from memflow.memories.entries import Item
from memflow.memories.memory import Recall
from memflow.memories.notes import recalled
from memflow.memories.server.mirror import Mirror
from memflow.memories.server.protocol import SentMessage
from memflow.memories.verbatim import with_date
from memflow.tokens import estimate


def recall_of(items: Sequence[Item], notes: str, budget: int, mirror: Mirror) -> Recall:
    """Return a Recall of items, best first, with their dates; with `notes` of the server's own if it has no items.

    The notes list the items in the order of their first sources. If an item has none, they list them in the order in
    which they were exported. A server without both has its items in the order of the messages whose texts or dates
    they have, followed by items without such a message as the server returned them.
    """
    if not items:
        return Recall(notes=notes, injected_tokens=estimate(notes)) if notes else Recall()
    by_id = {item.entry_id: item for item in items}
    dated = [
        replace(item, text=with_date(item.text, item.meta.get("sent_at")), order=order)
        for item, order in zip(items, _orders(items, mirror), strict=True)
    ]
    recall = recalled(dated, budget or None)
    return replace(
        recall,
        entries=tuple(by_id[item.entry_id] for item in recall.entries),
        ranking=None if recall.ranking is None else tuple(by_id[item.entry_id] for item in recall.ranking),
    )


def _orders(items: Sequence[Item], mirror: Mirror) -> list[int]:
    """Return a number for each item by which the notes list them; equal numbers keep the order of the answer."""
    positions = [mirror.position(item) for item in items]
    positioned = [position for position in positions if position is not None]
    if len(positioned) == len(items):
        return positioned
    if mirror.capabilities.export != "none":
        return [item.order for item in items]
    return likely_positions(items, [message for write in mirror.writes for message in write.messages])


def likely_positions(items: Sequence[Item], messages: Sequence[SentMessage]) -> list[int]:
    """Return the positions of the messages from which items without sources probably came, by their texts and dates.

    It is the message with the largest common text; without one, the first of the item's date; else a position after
    all. Only the order of notes uses it, so that a memory without sources presents its items like all others: it does
    not count as evidence.
    """
    written = [_plain(message.text) for message in messages]
    dates = [message.sent_at for message in messages]
    positions = []
    for item in items:
        text, date = _plain(item.text), item.meta.get("sent_at")
        content = text.partition(": ")[2] or text  # without the name of the speaker
        common = [
            (min(len(message), len(content)), -index)
            for index, message in enumerate(written)
            if message and (message in text or content in message)
        ]
        known = dates.index(date) if date is not None and date in dates else len(messages)
        positions.append(-max(common)[1] if common else known)
    return positions


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
