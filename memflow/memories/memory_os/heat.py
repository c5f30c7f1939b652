"""Heat, the usage of a mid-term segment: alpha * visits + beta * length + gamma * exp(-age / mu).

`visits` counts reads that found its pages, `length` its pages not yet promoted, `age` the messages since the last
visit or new page. Each segment has one bookkeeping entry of kind `heat`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from memflow.memories.entries import EntryStore, Item

HEAT = "heat"


@dataclass(frozen=True)
class SegmentHeat:
    """The heat of the segments in a store, by the id of each segment's first version. `mu` is in messages."""

    store: EntryStore
    alpha: float
    beta: float
    gamma: float
    mu: float

    def all(self) -> dict[str, float]:
        """Return the heat of every segment."""
        return {segment: self._heat(item) for segment, item in self._items().items()}

    def hottest(self, tau: float) -> str | None:
        """Return the hottest segment above `tau` with pages to promote, or None."""
        items = self._items()
        hot = {segment: heat for segment, heat in self.all().items() if heat > tau}
        waiting = [segment for segment in hot if items[segment].meta["length"] > 0]
        return max(waiting, key=lambda segment: hot[segment], default=None)

    def length(self, segment: str) -> int:
        """Return the number of newest pages of a segment that are not promoted."""
        return int(self._items()[segment].meta["length"])

    def join(self, segment: str) -> None:
        """Record a page that joined or created a segment."""
        item = self._items().get(segment)
        if item is None:
            self._write(None, segment, visits=0, length=1)
        else:
            self._write(item, segment, visits=item.meta["visits"], length=item.meta["length"] + 1)

    def visit(self, segments: Iterable[str]) -> None:
        """Record a read that found pages in these segments."""
        items = self._items()
        for segment in segments:
            meta = items[segment].meta
            self._write(items[segment], segment, visits=meta["visits"] + 1, length=meta["length"])

    def reset(self, segment: str, *, visits: bool) -> None:
        """Record a promotion: set the length, and optionally the visits, to 0."""
        item = self._items()[segment]
        self._write(item, segment, visits=0 if visits else item.meta["visits"], length=0, touched=False)

    def forget(self, segment: str) -> None:
        """Remove a segment's record."""
        self.store.retire(self._items()[segment].entry_id)

    def _items(self) -> dict[str, Item]:
        return {item.meta["segment"]: item for item in self.store.live(HEAT)}

    def _heat(self, item: Item) -> float:
        age = self.store.sequence - item.meta["last"]
        recency = math.exp(-age / self.mu)
        return self.alpha * item.meta["visits"] + self.beta * item.meta["length"] + self.gamma * recency

    def _write(
        self, item: Item | None, segment: str, *, visits: int, length: int, touched: bool = True
    ) -> None:
        last = self.store.sequence if touched or item is None else item.meta["last"]
        meta = {"segment": segment, "visits": visits, "length": length, "last": last}
        text = f"{segment}: {visits} visits, {length} pages, last at {last}"
        if item is None:
            self.store.add(HEAT, text, sources=(), meta=meta)
        else:
            self.store.revise(item, text=text, meta=meta)
