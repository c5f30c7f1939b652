"""MemoryOS's mid-term memory: pages in segments by topic, and chains of consecutive pages on one subject.

Pages store the ids of the first versions of their segment and chain, so that revisions keep the link.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.search import Dense, SearchHit

HEAT = "heat"


@dataclass(frozen=True)
class SegmentHeat:
    """The heat of each segment in a store: alpha * visits + beta * length + gamma * exp(-age / mu).

    `visits` counts reads that found its pages, `length` its pages not yet promoted, `age` the messages since the last
    visit or new page. Bookkeeping entries record these values by the id of a segment's first version.
    """

    store: EntryStore
    alpha: float
    beta: float
    gamma: float
    mu: float

    def all(self) -> dict[str, float]:
        """Return the heat of every segment, by the id of its first version."""
        return {segment: self._heat(item) for segment, item in self._items().items()}

    def hottest(self, tau: float) -> str | None:
        """Return the segment with the highest heat above `tau` that has pages to promote, or None."""
        items = self._items()
        heats = {segment: heat for segment, heat in self.all().items() if heat > tau}
        candidates = [segment for segment in heats if items[segment].meta["length"] > 0]
        return max(candidates, key=lambda segment: heats[segment], default=None)

    def length(self, segment: str) -> int:
        """Return the number of pages of a segment that are not promoted yet."""
        return int(self._items()[segment].meta["length"])

    def join(self, segment: str) -> None:
        """Record that a page was added to a segment, which may be new."""
        item = self._items().get(segment)
        if item is None:
            self._write_heat(None, segment, visits=0, length=1)
        else:
            self._write_heat(item, segment, visits=item.meta["visits"], length=item.meta["length"] + 1)

    def visit(self, segments: Iterable[str]) -> None:
        """Record that a read found pages in these segments."""
        items = self._items()
        for segment in segments:
            meta = items[segment].meta
            self._write_heat(items[segment], segment, visits=meta["visits"] + 1, length=meta["length"])

    def reset(self, segment: str, *, visits: bool) -> None:
        """Record that a segment's pages were promoted: set its length and, if `visits`, its visits to 0."""
        item = self._items()[segment]
        self._write_heat(item, segment, visits=0 if visits else item.meta["visits"], length=0, is_visit=False)

    def forget(self, segment: str) -> None:
        """Delete the record of a segment's heat."""
        self.store.retire(self._items()[segment].entry_id)

    def _items(self) -> dict[str, Item]:
        return {item.meta["segment"]: item for item in self.store.live(HEAT)}

    def _heat(self, item: Item) -> float:
        age = self.store.sequence - item.meta["last"]
        recency = math.exp(-age / self.mu)
        return self.alpha * item.meta["visits"] + self.beta * item.meta["length"] + self.gamma * recency

    def _write_heat(
        self, item: Item | None, segment: str, *, visits: int, length: int, is_visit: bool = True
    ) -> None:
        """Record the visits and the length of a segment; `is_visit` also sets its last visit to now."""
        last_visit = self.store.sequence if is_visit or item is None else item.meta["last"]
        meta = {"segment": segment, "visits": visits, "length": length, "last": last_visit}
        text = f"{segment}: {visits} visits, {length} pages, last at {last_visit}"
        if item is None:
            self.store.add(HEAT, text, sources=(), meta=meta)
        else:
            self.store.revise(item, text=text, meta=meta)


PAGE, SEGMENT, CHAIN = "page", "segment", "chain"
NOTHING = "(nothing yet)"
"""The text of prompts for a missing summary, profile or previous page."""


def first_version_id(item: Item) -> str:
    """Return the id of the first version of a segment or chain; `store.latest` maps it to the newest."""
    version_id: str = item.meta.get("root", item.entry_id)
    return version_id


def normalize_keywords(keywords: Iterable[str]) -> list[str]:
    """Return the distinct keywords in lower case, without surrounding white space."""
    return [word for word in dict.fromkeys(keyword.strip().casefold() for keyword in keywords) if word]


def jaccard(keywords: Collection[str], other: Collection[str]) -> float:
    """Return the Jaccard similarity of two sets of keywords, 0 if both are empty."""
    union = set(keywords) | set(other)
    return len(set(keywords) & set(other)) / len(union) if union else 0.0


@dataclass
class MidTerm:
    """Up to `capacity` segments in a store. A page joins the most similar segment if its score is above `theta`."""

    store: EntryStore
    heats: SegmentHeat
    theta: float
    capacity: int
    _segments: Dense = field(init=False)
    _pages: Dense = field(init=False)

    def __post_init__(self) -> None:
        self._segments, self._pages = Dense(self.store, SEGMENT), Dense(self.store, PAGE)

    def newest(self) -> Item | None:
        """Return the most recently added page; None without pages."""
        pages = self.store.live(PAGE)
        return pages[-1] if pages else None

    def chain_of(self, page: Item | None) -> Item | None:
        """Return the current version of a page's chain; None if it has none."""
        chain = page.meta["chain"] if page is not None else None
        return None if chain is None else self.store.latest(chain)

    def write_chain(self, current: Item | None, summary: str, sources: Iterable[str]) -> Item:
        """Write and return the chain of a page: the next version of `current`, or a new chain if it is None."""
        if current is None:
            return self.store.add(CHAIN, summary, sources=sources)
        return self.store.revise(
            current,
            text=summary,
            sources=_union(current.sources, sources),
            meta={"root": first_version_id(current)},
        )

    def topic(self, vector: Vector, keywords: Collection[str]) -> Item | None:
        """Return the segment with the highest cosine + Jaccard similarity; None if no similarity is above `theta`."""
        match = next(iter(self.matches(vector, keywords)), None)
        return match.item if match is not None and match.score > self.theta else None

    def matches(self, vector: Vector, keywords: Collection[str]) -> list[SearchHit]:
        """Return all segments with their cosine + Jaccard similarity of keywords (equation 3), best first."""
        hits = self._segments.scored(vector, len(self.store.live(SEGMENT)))
        matches = [
            SearchHit(hit.item, hit.score + jaccard(keywords, hit.item.meta["keywords"])) for hit in hits
        ]
        return sorted(matches, key=lambda hit: -hit.score)

    def segment(
        self, current: Item | None, summary: str, keywords: list[str], vector: Vector, sources: Iterable[str]
    ) -> Item:
        """Write and return a segment: the next version of `current`, or a new segment if it is None."""
        if current is None:
            return self.store.add(
                SEGMENT, summary, sources=sources, vector=vector, meta={"keywords": keywords}
            )
        meta = {"keywords": keywords, "root": first_version_id(current)}
        sources = _union(current.sources, sources)
        return self.store.revise(current, text=summary, sources=sources, vector=vector, meta=meta)

    def add_page(
        self, page: Item, text: str, vector: Vector, date: str | None, segment: Item, chain: Item | None
    ) -> None:
        """Move a short-term page into its segment. Above the capacity, evict the coldest other segments."""
        meta = {
            "segment": first_version_id(segment),
            "chain": None if chain is None else first_version_id(chain),
            "date": date,
        }
        self.store.revise(page, kind=PAGE, text=text, vector=vector, meta=meta)
        self.heats.join(first_version_id(segment))
        while len(self.store.live(SEGMENT)) > self.capacity:
            self._evict(exempt=first_version_id(segment))

    def waiting(self, segment: str) -> list[Item]:
        """Return the pages of a segment that are not promoted yet, oldest first."""
        pages = [page for page in self.store.live(PAGE) if page.meta["segment"] == segment]
        return pages[len(pages) - self.heats.length(segment) :]

    def search(self, query: Vector, keywords: Collection[str], segments: int, k: int) -> list[SearchHit]:
        """Return the `k` nearest pages in the `segments` most similar segments, nearest first."""
        segment_ids = {first_version_id(hit.item) for hit in self.matches(query, keywords)[:segments]}
        pages = self._pages.scored(query, len(self.store.live(PAGE)))
        return [hit for hit in pages if hit.item.meta["segment"] in segment_ids][:k]

    def _evict(self, exempt: str) -> None:
        """Retire the segment with the lowest heat, except `exempt`, its pages, and chains without a page."""
        heats = self.heats.all()
        segments = {first_version_id(item): item for item in self.store.live(SEGMENT)}
        del segments[exempt]
        coldest = min(segments, key=lambda segment: heats[segment])
        self.store.retire(segments[coldest].entry_id)
        for page in self.store.live(PAGE):
            if page.meta["segment"] == coldest:
                self.store.retire(page.entry_id)
        self.heats.forget(coldest)
        linked_chains = {page.meta["chain"] for page in self.store.live(PAGE)}
        for chain in self.store.live(CHAIN):
            if first_version_id(chain) not in linked_chains:
                self.store.retire(chain.entry_id)


def _union(ids: Iterable[str], new_ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((*ids, *new_ids)))
