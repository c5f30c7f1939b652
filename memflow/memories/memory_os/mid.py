"""Mid-term memory: pages that left the short term, in segments of one topic each, and the chains they form.

A page names its segment and its chain by the first id that each had, so that the link survives their revisions. A
segment's entry holds its summary, from all its pages; a chain's the summary of pages that went on from one another.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.memory_os.heat import SegmentHeat
from memflow.memories.search import Dense, SearchHit

PAGE, SEGMENT, CHAIN = "page", "segment", "chain"
NOTHING = "(nothing yet)"
"""What a prompt says where there is no summary, no profile and no page before."""


def first_version_id(item: Item) -> str:
    """The id that the first version of a segment or a chain had: `store.latest` leads from it to the newest."""
    first: str = item.meta.get("root", item.entry_id)
    return first


def normalize_keywords(keywords: Iterable[str]) -> list[str]:
    """Keywords as they are compared: in small letters, each once."""
    return [word for word in dict.fromkeys(keyword.strip().casefold() for keyword in keywords) if word]


def jaccard(one: Collection[str], other: Collection[str]) -> float:
    """Share of keywords that two sets have in common, from 0 to 1; 0 where both are empty."""
    together = set(one) | set(other)
    return len(set(one) & set(other)) / len(together) if together else 0.0


@dataclass
class MidTerm:
    """The segments of a store: a page joins one that it scores above `theta` with; at most `capacity` are held."""

    store: EntryStore
    heats: SegmentHeat
    theta: float
    capacity: int
    _segments: Dense = field(init=False)
    _pages: Dense = field(init=False)

    def __post_init__(self) -> None:
        self._segments, self._pages = Dense(self.store, SEGMENT), Dense(self.store, PAGE)

    def newest(self) -> Item | None:
        """The page that came last."""
        pages = self.store.live(PAGE)
        return pages[-1] if pages else None

    def chain_of(self, page: Item | None) -> Item | None:
        """The chain that a page belongs to, as it is now; None where there is no page, or it has none."""
        chain = page.meta["chain"] if page is not None else None
        return None if chain is None else self.store.latest(chain)

    def chain(self, known: Item | None, summary: str, sources: Iterable[str]) -> Item:
        """Write a page's chain: the next version of the `known` one, or a new one."""
        if known is None:
            return self.store.add(CHAIN, summary, sources=sources)
        return self.store.revise(
            known,
            text=summary,
            sources=_union(known.sources, sources),
            meta={"root": first_version_id(known)},
        )

    def topic(self, vector: Vector, keywords: Collection[str]) -> Item | None:
        """The segment that a page belongs to: the best by cosine + Jaccard, if above `theta`; else None."""
        best, most = None, self.theta
        for found in self._segments.scored(vector, len(self.store.live(SEGMENT))):
            score = found.score + jaccard(keywords, found.item.meta["keywords"])
            if score > most:
                best, most = found.item, score
        return best

    def segment(
        self, known: Item | None, summary: str, keywords: list[str], vector: Vector, sources: Iterable[str]
    ) -> Item:
        """Write a segment: the next version of the `known` one, or a new one."""
        if known is None:
            return self.store.add(
                SEGMENT, summary, sources=sources, vector=vector, meta={"keywords": keywords}
            )
        meta = {"keywords": keywords, "root": first_version_id(known)}
        sources = _union(known.sources, sources)
        return self.store.revise(known, text=summary, sources=sources, vector=vector, meta=meta)

    def take(
        self, page: Item, text: str, vector: Vector, date: str | None, segment: Item, chain: Item | None
    ) -> None:
        """Move a short-term page into its segment; the coldest other segment goes, where there are too many."""
        meta = {
            "segment": first_version_id(segment),
            "chain": None if chain is None else first_version_id(chain),
            "date": date,
        }
        self.store.revise(page, kind=PAGE, text=text, vector=vector, meta=meta)
        self.heats.join(first_version_id(segment))
        while len(self.store.live(SEGMENT)) > self.capacity:
            self._evict(spared=first_version_id(segment))

    def waiting(self, segment: str) -> list[Item]:
        """The pages of a segment that have not been promoted, oldest first."""
        pages = [page for page in self.store.live(PAGE) if page.meta["segment"] == segment]
        return pages[len(pages) - self.heats.length(segment) :]

    def search(self, query: Vector, segments: int, k: int) -> list[SearchHit]:
        """The `k` pages nearest to `query` in the `segments` nearest to it, nearest first."""
        near = {first_version_id(item) for item in self._segments.search(query, segments)}
        pages = self._pages.scored(query, len(self.store.live(PAGE)))
        return [found for found in pages if found.item.meta["segment"] in near][:k]

    def _evict(self, spared: str) -> None:
        heats = self.heats.all()
        coldest = min(
            (item for item in self.store.live(SEGMENT) if first_version_id(item) != spared),
            key=lambda item: heats[first_version_id(item)],
        )
        pages = [page for page in self.store.live(PAGE) if page.meta["segment"] == first_version_id(coldest)]
        for item in (coldest, *pages):
            self.store.retire(item.entry_id)
        self.heats.forget(first_version_id(coldest))
        held = {page.meta["chain"] for page in self.store.live(PAGE)}
        for chain in self.store.live(CHAIN):
            if first_version_id(chain) not in held:
                self.store.retire(chain.entry_id)


def _union(known: Iterable[str], new: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((*known, *new)))
