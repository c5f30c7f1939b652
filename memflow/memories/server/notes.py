"""The recall of a memory server: notes for the prompt from the items that it returned."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from memflow.memories.entries import Item
from memflow.memories.memory import Recall
from memflow.memories.notes import recalled
from memflow.memories.verbatim import with_date
from memflow.tokens import estimate


def recall_of(
    items: Sequence[Item], notes: str, budget: int, position: Callable[[Item], int | None], *, exported: bool
) -> Recall:
    """Return a Recall of items, best first, with their dates; with `notes` of the server's own if it has no items.

    The notes list the items in the order of their first sources. If an item has none, they list them in the order in
    which they were `exported`, or else as the server returned them.
    """
    if not items:
        return Recall(notes=notes, injected_tokens=estimate(notes)) if notes else Recall()
    positions = [position(item) for item in items]
    by_id = {item.entry_id: item for item in items}
    shown = [
        replace(
            item,
            text=with_date(item.text, item.meta.get("sent_at")),
            order=positions[at] or 0 if None not in positions else item.order if exported else at,
        )
        for at, item in enumerate(items)
    ]
    found = recalled(shown, budget or None)
    return replace(
        found,
        entries=tuple(by_id[item.entry_id] for item in found.entries),
        ranking=None if found.ranking is None else tuple(by_id[item.entry_id] for item in found.ranking),
    )
