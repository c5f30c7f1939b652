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
    messages = [message for write in mirror.writes for message in write.messages]
    origins = LikelyOrigins(messages)
    return [origins.position(item) for item in items]


class LikelyOrigins:
    """The messages that items without sources probably came from, by their texts and dates.

    Only the order of notes uses them, so that a memory without sources presents its items like all others. They do
    not count as evidence.
    """

    def __init__(self, messages: Sequence[SentMessage]) -> None:
        self._texts = [_plain(message.text) for message in messages]
        self._dates = [message.sent_at for message in messages]
        self._by_text = {text: index for index, text in reversed([*enumerate(self._texts)])}

    def position(self, item: Item) -> int:
        """Return the position of the message with the largest common text; without one, of the first of its date.

        Return the number of messages for an item without such a message.
        """
        text_of_item = _plain(item.text)
        content = text_of_item.partition(": ")[2] or text_of_item  # without the name of the speaker
        for text in (text_of_item, content):
            if text in self._by_text:
                return self._by_text[text]
        common = [
            (min(len(text), len(content)), -index)
            for index, text in enumerate(self._texts)
            if text and (text in text_of_item or content in text)
        ]
        if common:
            return -max(common)[1]
        date = item.meta.get("sent_at")
        return self._dates.index(date) if date is not None and date in self._dates else len(self._texts)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
