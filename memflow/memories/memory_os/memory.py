"""MemoryOS (Kang et al. 2025), as MemoryBench evaluates it (section 5.1).

New pages are short-term (short.py). The oldest moves to the segment of its topic (mid.py); the hottest segment is
promoted to profile and knowledge. Deviations are in deviations.yaml.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from memflow.memories.entries import Item, Vector
from memflow.memories.memory import (
    Calls,
    Memory,
    Message,
    ModelWrittenMemory,
    PromptRequest,
    Recall,
    parameter,
)
from memflow.memories.memory_os.answers import Attribute, Fact, Facts, Keywords, Link, Topic, Trait, Traits
from memflow.memories.memory_os.dimensions import DIMENSIONS, dimension_lists, dimension_names
from memflow.memories.memory_os.long import ASSISTANT, USER, LongTerm
from memflow.memories.memory_os.mid import HEAT, NOTHING, PAGE, MidTerm, SegmentHeat, normalize_keywords
from memflow.memories.memory_os.short import SHORT, page_date, page_text, page_turns, store_pages
from memflow.memories.notes import join_texts
from memflow.memories.search import SearchHit
from memflow.memories.verbatim import with_date
from memflow.tokens import estimate


@dataclass
class MemoryOs(ModelWrittenMemory):
    """A memory of dialogue pages that move from short-term to mid-term and long-term storage, by age and heat.

    A recall contains profiles, knowledge and `k` older pages as notes in sections, and the newest pages as turns. Time
    is counted in messages.
    """

    k: int = parameter(7, "Number of recalled older pages: the size of MemoryBench's queue.", low=1)
    segments: int = parameter(5, "Number of segments in which pages are searched.", low=1)
    facts: int = parameter(10, "Number of recalled facts about the user, and about the assistant.")
    short: int = parameter(7, "Number of pages in short-term memory.", low=1)
    theta: float = parameter(0.6, "Score above which a page joins a segment: cosine + Jaccard of keywords.")
    capacity: int = parameter(200, "Maximum number of segments in mid-term memory.", low=1)
    tau: float = parameter(5.0, "Heat above which a segment is promoted.")
    alpha: float = parameter(1.0, "Weight of a segment's visits in its heat.")
    beta: float = parameter(1.0, "Weight of its number of pages.")
    gamma: float = parameter(1.0, "Weight of its recency, exp(-age / mu).")
    mu: float = parameter(300.0, "Messages in which recency falls to 1/e.", low=1)
    reset: str = parameter(
        "length",
        "The counts that a promotion resets: the length (paper), or also the visits (published code).",
        choices=("length", "length_and_visits"),
    )
    segment_score: str = parameter(
        "cosine_keywords",
        "The score of segments for a query: cosine + Jaccard of keywords (paper), or the cosine (published code).",
        choices=("cosine_keywords", "cosine"),
    )
    dimensions: str = parameter(
        "paper",
        "The user's traits: the paper's 90 dimensions, or the 51 of the published code.",
        choices=(*DIMENSIONS,),
    )
    agent_profile: str = parameter(
        "", "The role and character of the assistant, which every recall contains."
    )
    knowledge: int = parameter(100, "Maximum number of facts in each queue of knowledge.", low=1)

    calls: ClassVar[Calls] = Calls(chat_write=4, chat_read=1, embed_write=3, embed_read=1, per="message")
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {HEAT}
    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        self.heats = SegmentHeat(self.store, self.alpha, self.beta, self.gamma, self.mu)
        self.mid = MidTerm(self.store, self.heats, self.theta, self.capacity)
        self.long = LongTerm(self.store, self.knowledge)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store pages, and move the oldest pages to mid-term memory until `short` pages are left."""
        store_pages(self.store, messages)
        pages = self.store.live(SHORT)
        evicted = pages[: max(0, len(pages) - self.short)]
        notes = [page_text(page) for page in evicted]
        vectors = await self.embed(notes, "passage")
        for page, text, vector in zip(evicted, notes, vectors, strict=True):
            await self._move(page, text, vector)
            hot_segment = self.heats.hottest(self.tau)
            if hot_segment is not None:
                await self._promote(hot_segment)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return notes in sections. Entries are search results by cosine, then chains, profile, short-term pages."""
        pages: list[SearchHit] = []
        user_facts: list[SearchHit] = []
        assistant_facts: list[SearchHit] = []
        failures: list[str] = []
        if self.store.live(PAGE, USER, ASSISTANT):
            keywords: list[str] = []
            if self.segment_score == "cosine_keywords" and self.store.live(PAGE):
                answer: Keywords = await self.ask_to_read("keywords", {"query": query}, failed=failures)
                keywords = normalize_keywords(answer.keywords)
            [vector] = await self.embed([query], "query")
            pages = self.mid.search(vector, keywords, self.segments, self.k)
            user_facts = self.long.search(USER, vector, self.facts)
            assistant_facts = self.long.search(ASSISTANT, vector, self.facts)
        recall = replace(self._recall(pages, user_facts, assistant_facts), failed=tuple(failures))
        if not frozen:
            self.heats.visit(dict.fromkeys(hit.item.meta["segment"] for hit in pages))
        return recall

    async def _move(self, page: Item, text: str, vector: Vector) -> None:
        """Move a page from short-term to mid-term memory: link it to the preceding page and choose its segment."""
        previous_page = self.mid.newest()
        previous_chain = self.mid.chain_of(previous_page)
        fields = {
            "previous": previous_page.text if previous_page else NOTHING,
            "chain": previous_chain.text if previous_chain else NOTHING,
            "page": text,
        }
        link: Link | None = await self.ask("link", fields, sources=page.sources)
        keywords = normalize_keywords(link.keywords) if link else []
        chain = None
        if link is not None:
            continued_chain = previous_chain if link.continues else None
            chain = self.mid.write_chain(continued_chain, link.chain, page.sources)
        segment = await self._segment(page, text, vector, keywords)
        self.mid.add_page(page, text, vector, page_date(page), segment, chain)

    async def _segment(self, page: Item, text: str, vector: Vector, keywords: list[str]) -> Item:
        """Return the segment that a page joins, existing or new, with an updated summary."""
        topic_segment = self.mid.topic(vector, keywords)
        fields = {
            "summary": topic_segment.text if topic_segment else NOTHING,
            "keywords": ", ".join(topic_segment.meta["keywords"] if topic_segment else keywords) or NOTHING,
            "page": text,
        }
        topic: Topic | None = await self.ask("segment", fields, sources=page.sources)
        if topic is not None:
            [summary_vector] = await self.embed([topic.summary], "passage")
            return self.mid.segment(
                topic_segment, topic.summary, normalize_keywords(topic.keywords), summary_vector, page.sources
            )
        if topic_segment is not None:
            return topic_segment
        # Without a summary, the text of the page is the segment's text until another page joins it.
        return self.mid.segment(None, text, keywords, vector, page.sources)

    async def _promote(self, segment: str) -> None:
        """Extract profile lines and facts from a segment's new pages, with two concurrent requests."""
        pages = self.mid.waiting(segment)
        sources = [source for page in pages for source in page.sources]
        page_list = "\n\n".join(f"Page {number}\n{page.text}" for number, page in enumerate(pages, 1))
        profile_fields = {
            "dimensions": dimension_lists(self.dimensions),
            "profile": join_texts(self.long.profile()) or NOTHING,
            "pages": page_list,
        }
        names = dimension_names(self.dimensions)

        def find_error(
            item: Attribute | Trait | Fact, accepted: Sequence[Attribute | Trait | Fact]
        ) -> str | None:
            if isinstance(item, Trait) and item.label not in names:
                return f"there is no dimension {item.dimension!r}; use a name of the list"
            if item.page > len(pages):
                return f"there is no page {item.page}; there are {len(pages)}"
            return None

        traits: Traits | None
        facts: Facts | None
        traits, facts = await self.ask_all(
            [
                PromptRequest(stem, fields, sources, find_error, numbers={"page": len(pages)})
                for stem, fields in (("profile", profile_fields), ("knowledge", {"pages": page_list}))
            ]
        )
        if traits is not None:
            for line in (*traits.attributes, *traits.traits):
                self.long.set_profile(line.label, line.text, pages[line.page - 1])
        if facts is not None:
            facts_with_kind = [(USER, fact) for fact in facts.user]
            facts_with_kind += [(ASSISTANT, fact) for fact in facts.assistant]
            texts = []
            for _, fact in facts_with_kind:
                texts.append(f"- {with_date(fact.text, pages[fact.page - 1].meta['date'])}")
            vectors = await self.embed(texts, "passage")
            for (kind, fact), text, vector in zip(facts_with_kind, texts, vectors, strict=True):
                self.long.add_fact(kind, text, vector, pages[fact.page - 1])
        self.heats.reset(segment, visits=self.reset == "length_and_visits")

    def _recall(
        self, pages: list[SearchHit], user_facts: list[SearchHit], assistant_facts: list[SearchHit]
    ) -> Recall:
        """Return the recall of the queue, the pages, the facts and the profiles for a query."""
        older_pages = sorted((hit.item for hit in pages), key=lambda page: page.order)
        lines: list[str] = []
        chains: dict[str, Item] = {}
        for page in older_pages:
            chain = self.mid.chain_of(page)
            if chain is not None and chain.entry_id not in chains:
                chains[chain.entry_id] = chain
                lines.append(f"({chain.text})")
            lines.append(page.text)
        profile = self.long.profile()
        sections = {
            "Profile of the assistant": self.agent_profile,
            "Profile of the user": join_texts(profile),
            "Knowledge of the user": _texts_by_age(user_facts),
            "Knowledge of the assistant": _texts_by_age(assistant_facts),
            "Earlier in the conversation": "\n".join(lines),
        }
        notes = "\n\n".join(f"{title}:\n{text}" for title, text in sections.items() if text)
        nearest = sorted((*pages, *user_facts, *assistant_facts), key=lambda hit: -hit.score)
        short_pages = self.store.live(SHORT)
        turns = page_turns(short_pages)
        return Recall(
            notes=notes,
            messages=turns,
            entries=(*(hit.item for hit in nearest), *chains.values(), *reversed(profile), *short_pages),
            injected_tokens=estimate(notes) + sum(estimate(turn.content) for turn in turns),
        )


def _texts_by_age(facts: Sequence[SearchHit]) -> str:
    return join_texts(sorted((hit.item for hit in facts), key=lambda item: item.order))
