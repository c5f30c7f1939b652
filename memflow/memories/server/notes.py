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
    shown = [
        replace(item, text=with_date(item.text, item.meta.get("sent_at")), order=order)
        for item, order in zip(items, _orders(items, mirror), strict=True)
    ]
    found = recalled(shown, budget or None)
    return replace(
        found,
        entries=tuple(by_id[item.entry_id] for item in found.entries),
        ranking=None if found.ranking is None else tuple(by_id[item.entry_id] for item in found.ranking),
    )


def _orders(items: Sequence[Item], mirror: Mirror) -> list[int]:
    """Return a number for each item by which the notes list them; equal numbers keep the order of the answer."""
    positions = [mirror.position(item) for item in items]
    known = [position for position in positions if position is not None]
    if len(known) == len(items):
        return known
    if mirror.can.export != "none":
        return [item.order for item in items]
    messages = [message for write in mirror.writes for message in write.messages]
    likely = LikelyOrigins(messages)
    return [likely.position(item) for item in items]


class LikelyOrigins:
    """The messages that items without sources probably came from, by their texts and dates.

    Only the order of notes uses them, so that a memory without sources presents its items like all others. They are no
    evidence: nothing is attributed by them.
    """

    def __init__(self, messages: Sequence[SentMessage]) -> None:
        self._texts = [_plain(message.text) for message in messages]
        self._dates = [message.sent_at for message in messages]
        self._by_text = {text: at for at, text in reversed([*enumerate(self._texts)])}

    def position(self, item: Item) -> int:
        """Return the position of the message with the largest common text; without one, of the first of its date.

        Return the number of messages for an item without such a message.
        """
        whole = _plain(item.text)
        said = whole.partition(": ")[2] or whole  # without the name of the speaker
        for text in (whole, said):
            if text in self._by_text:
                return self._by_text[text]
        common = [
            (min(len(text), len(said)), -at)
            for at, text in enumerate(self._texts)
            if text and (text in whole or said in text)
        ]
        if common:
            return -max(common)[1]
        date = item.meta.get("sent_at")
        return self._dates.index(date) if date is not None and date in self._dates else len(self._texts)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
