"""MemoryOS (Kang et al. 2025), as MemoryBench evaluates it (section 5.1).

New pages are short-term (short.py). The oldest moves to the segment of its topic (mid.py); the hottest segment is
promoted to profile and knowledge. Deviations are in docs/fidelity.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.memory import (
    Calls,
    Memory,
    Message,
    ModelWrittenMemory,
    PromptRequest,
    Recall,
    parameter,
)
from memflow.memories.memory_os.answers import Fact, Facts, Link, Topic, Trait, Traits
from memflow.memories.memory_os.mid import HEAT, NOTHING, PAGE, MidTerm, SegmentHeat, normalize_keywords
from memflow.memories.memory_os.short import SHORT, page_date, page_text, page_turns, store_pages
from memflow.memories.notes import join_texts
from memflow.memories.search import Dense, SearchHit
from memflow.memories.verbatim import with_date
from memflow.tokens import estimate

PROFILE, USER, ASSISTANT = "profile", "user_knowledge", "assistant_knowledge"


@dataclass
class LongTerm:
    """Long-term personal memory: at most `traits` profile lines, and `knowledge` facts per queue.

    A new profile line replaces the line with the same label; a full queue drops its oldest fact. Sources are the
    messages of the page that states the line or fact.
    """

    store: EntryStore
    traits: int
    knowledge: int

    def __post_init__(self) -> None:
        self._indexes = {kind: Dense(self.store, kind) for kind in (USER, ASSISTANT)}

    def profile(self) -> list[Item]:
        """Return the profile lines, the least recently changed first."""
        return self.store.live(PROFILE)

    def set_profile(self, label: str, value: str, page: Item) -> None:
        """Store a profile line that `page` states; it replaces the line with the same label."""
        text, meta = f"- {label}: {value}", {"label": label.strip().casefold()}
        known = [item for item in self.profile() if item.meta == meta]
        if not known:
            self.store.add(PROFILE, text, sources=page.sources, meta=meta)
        elif known[0].text != text:
            self.store.revise(known[0], text=text, sources=page.sources)
        self._shorten(PROFILE, self.traits)

    def add_fact(self, kind: str, text: str, vector: Vector, page: Item) -> None:
        """Append a fact that `page` states to the queue of its kind; an equal fact moves to the end instead."""
        known = [item for item in self.store.live(kind) if item.text == text]
        if known:
            self.store.revise(known[0], sources=dict.fromkeys((*known[0].sources, *page.sources)))
        else:
            self.store.add(kind, text, sources=page.sources, vector=vector)
        self._shorten(kind, self.knowledge)

    def search(self, kind: str, query: Vector, k: int) -> list[SearchHit]:
        """Return the `k` facts of a queue nearest to `query`, nearest first."""
        return self._indexes[kind].scored(query, k)

    def _shorten(self, kind: str, capacity: int) -> None:
        held = self.store.live(kind)
        for item in held[: max(0, len(held) - capacity)]:
            self.store.retire(item.entry_id)


@dataclass
class MemoryOs(ModelWrittenMemory):
    """A memory of dialogue pages that move from short-term to mid-term and long-term storage, by age and heat.

    A recall contains profile, knowledge and `k` older pages as notes in sections, and the newest pages as turns. Time
    is counted in messages.
    """

    k: int = parameter(7, "How many older pages are recalled: MemoryBench's queue.", low=1)
    segments: int = parameter(5, "How many segments those pages are looked for in.", low=1)
    facts: int = parameter(10, "How many facts of the user, and of the assistant, are recalled.")
    short: int = parameter(7, "How many pages stay in short-term memory.", low=1)
    theta: float = parameter(0.6, "Score above which a page joins a segment: cosine + Jaccard of keywords.")
    capacity: int = parameter(200, "How many segments mid-term memory holds.", low=1)
    tau: float = parameter(5.0, "Heat above which a segment is promoted.")
    alpha: float = parameter(1.0, "Weight of a segment's visits in its heat.")
    beta: float = parameter(1.0, "Weight of its number of pages.")
    gamma: float = parameter(1.0, "Weight of its recency, exp(-age / mu).")
    mu: float = parameter(300.0, "Messages in which recency falls to 1/e.", low=1)
    reset: str = parameter(
        "length",
        "What a promotion sets to zero: the length (paper), or the visits too (published code).",
        choices=("length", "length_and_visits"),
    )
    traits: int = parameter(90, "How many lines the profile has: the paper's number of traits.", low=1)
    knowledge: int = parameter(100, "How many facts each queue of knowledge holds.", low=1)

    calls: ClassVar[Calls] = Calls(chat_write=4, embed_write=3, embed_read=1, per="message")
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {HEAT}

    def __post_init__(self) -> None:
        self.heats = SegmentHeat(self.store, self.alpha, self.beta, self.gamma, self.mu)
        self.mid = MidTerm(self.store, self.heats, self.theta, self.capacity)
        self.long = LongTerm(self.store, self.traits, self.knowledge)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store pages, and move the oldest pages to mid-term memory until `short` pages are left."""
        store_pages(self.store, messages)
        held = self.store.live(SHORT)
        leaving = held[: max(0, len(held) - self.short)]
        notes = [page_text(page) for page in leaving]
        vectors = await self.embed(notes)
        for page, text, vector in zip(leaving, notes, vectors, strict=True):
            await self._move(page, text, vector)
            hot = self.heats.hottest(self.tau)
            if hot is not None:
                await self._promote(hot)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return notes in sections. Entries are search results by cosine, then chains, profile, short-term pages."""
        pages: list[SearchHit] = []
        user: list[SearchHit] = []
        assistant: list[SearchHit] = []
        if self.store.live(PAGE, USER, ASSISTANT):
            [vector] = await self.embed([query])
            pages = self.mid.search(vector, self.segments, self.k)
            user = self.long.search(USER, vector, self.facts)
            assistant = self.long.search(ASSISTANT, vector, self.facts)
        recall = self._recall(pages, user, assistant)
        if not frozen:
            self.heats.visit(dict.fromkeys(found.item.meta["segment"] for found in pages))
        return recall

    async def _move(self, page: Item, text: str, vector: Vector) -> None:
        """Move a page from short-term to mid-term memory: link it to the preceding page and choose its segment."""
        before = self.mid.newest()
        chain = self.mid.chain_of(before)
        fields = {
            "previous": before.text if before else NOTHING,
            "chain": chain.text if chain else NOTHING,
            "page": text,
        }
        link: Link | None = await self.ask("link", fields, sources=page.sources)
        keywords = normalize_keywords(link.keywords) if link else []
        if link is None or not link.continues:
            chain = None
        if link is not None:
            chain = self.mid.chain(chain, link.chain, page.sources)
        segment = await self._segment(page, text, vector, keywords)
        self.mid.add_page(page, text, vector, page_date(page), segment, chain)

    async def _segment(self, page: Item, text: str, vector: Vector, keywords: list[str]) -> Item:
        """Return the segment that a page joins, existing or new, with an updated summary."""
        known = self.mid.topic(vector, keywords)
        fields = {
            "summary": known.text if known else NOTHING,
            "keywords": ", ".join(known.meta["keywords"] if known else keywords) or NOTHING,
            "page": text,
        }
        topic: Topic | None = await self.ask("segment", fields, sources=page.sources)
        if topic is not None:
            [summarised] = await self.embed([topic.summary])
            return self.mid.segment(
                known, topic.summary, normalize_keywords(topic.keywords), summarised, page.sources
            )
        if known is not None:
            return known
        # Without a summary a new segment is found by its page's own words, until a page that joins brings one.
        return self.mid.segment(None, text, keywords, vector, page.sources)

    async def _promote(self, segment: str) -> None:
        """Extract profile lines and facts from a segment's new pages, with two concurrent requests."""
        pages = self.mid.waiting(segment)
        sources = [source for page in pages for source in page.sources]
        listed = "\n\n".join(f"Page {number}\n{page.text}" for number, page in enumerate(pages, 1))
        profile = {"profile": join_texts(self.long.profile()) or NOTHING, "pages": listed}

        def cited(item: Trait | Fact, accepted: Sequence[Trait | Fact]) -> str | None:
            return f"there is no page {item.page}; there are {len(pages)}" if item.page > len(pages) else None

        traits: Traits | None
        facts: Facts | None
        traits, facts = await self.ask_all(
            [
                PromptRequest("profile", profile, sources, cited),
                PromptRequest("knowledge", {"pages": listed}, sources, cited),
            ]
        )
        for trait in traits.traits if traits else ():
            self.long.set_profile(trait.label, trait.value, pages[trait.page - 1])
        if facts is not None:
            told = [(USER, fact) for fact in facts.user] + [(ASSISTANT, fact) for fact in facts.assistant]
            texts = [f"- {with_date(fact.text, pages[fact.page - 1].meta['date'])}" for _, fact in told]
            for (kind, fact), text, vector in zip(told, texts, await self.embed(texts), strict=True):
                self.long.add_fact(kind, text, vector, pages[fact.page - 1])
        self.heats.reset(segment, visits=self.reset == "length_and_visits")

    def _recall(self, pages: list[SearchHit], user: list[SearchHit], assistant: list[SearchHit]) -> Recall:
        said_before = sorted((found.item for found in pages), key=lambda page: page.order)
        lines: list[str] = []
        chains: dict[str, Item] = {}
        for page in said_before:
            chain = self.mid.chain_of(page)
            if chain is not None and chain.entry_id not in chains:
                chains[chain.entry_id] = chain
                lines.append(f"({chain.text})")
            lines.append(page.text)
        profile = self.long.profile()
        sections = {
            "Profile of the user": join_texts(profile),
            "Knowledge of the user": _in_order(user),
            "Knowledge of the assistant": _in_order(assistant),
            "Earlier in the conversation": "\n".join(lines),
        }
        notes = "\n\n".join(f"{title}:\n{text}" for title, text in sections.items() if text)
        nearest = sorted((*pages, *user, *assistant), key=lambda found: -found.score)
        short = self.store.live(SHORT)
        turns = page_turns(short)
        return Recall(
            notes=notes,
            messages=turns,
            entries=(*(found.item for found in nearest), *chains.values(), *reversed(profile), *short),
            injected_tokens=estimate(notes) + sum(estimate(turn.content) for turn in turns),
        )


def _in_order(facts: Sequence[SearchHit]) -> str:
    return join_texts(sorted((found.item for found in facts), key=lambda item: item.order))
