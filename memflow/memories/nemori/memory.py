"""Nemori: episodes split at topic changes, and statements about unpredicted content (Nan et al. 2025).

A model finds topic boundaries in a buffer and narrates each segment (alignment). The model then predicts an episode
from known statements and extracts the new content (predict-calibrate). Deviations are in docs/fidelity.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from memflow.memories.entries import Item
from memflow.memories.memory import Calls, Message, ModelWrittenMemory, PromptRequest, Recall, parameter
from memflow.memories.nemori.answers import Boundaries, Boundary, Narration, Prediction, Statement, Statements
from memflow.memories.notes import join_texts
from memflow.memories.search import Dense, SearchHit
from memflow.memories.verbatim import (
    StoredMessage,
    retire_messages,
    store_messages,
    stored_messages,
    with_buffer,
    with_date,
)
from memflow.tokens import estimate


@dataclass
class Segments:
    """Messages of the current segment (`open`) and completed segments (`closed`), oldest first.

    A segment has `shortest` to `longest` messages; a topic boundary before `shortest` messages is ignored.
    """

    shortest: int
    longest: int
    open: list[StoredMessage]
    closed: list[list[StoredMessage]] = field(default_factory=list)

    def undecided(self, new: int) -> range:
        """Return the numbers of the `new` next messages that may start a segment; `open` begins with 1."""
        held = len(self.open)
        return range(max(held, self.shortest) + 1, held + new + 1)

    def add(self, new: Sequence[StoredMessage], confidences: Mapping[int, float], above: float) -> None:
        """Add messages, and complete the segment before each message whose topic-change confidence exceeds `above`."""
        for number, message in enumerate(new, len(self.open) + 1):
            if confidences.get(number, 0.0) > above and len(self.open) >= self.shortest:
                self._close()
            self.open.append(message)
            if len(self.open) >= self.longest:
                self._close()

    def _close(self) -> None:
        self.closed.append(self.open)
        self.open = []


def number_messages(messages: Sequence[StoredMessage], first: int = 1) -> str:
    """Return the messages as dated lines, numbered from `first`."""
    return "\n".join(f"{number}. {message.note()}" for number, message in enumerate(messages, first))


BUFFER, ORIGINAL, EPISODE, STATEMENT = "buffer", "original", "episode", "statement"


@dataclass
class Nemori(ModelWrittenMemory):
    """A memory of episodes split at topic changes, and of statements about content that a model did not predict."""

    k: int = parameter(10, "How many episodes are recalled.", low=1)
    ratio: int = parameter(2, "How many statements are recalled for each of the k episodes.")
    originals: int = parameter(2, "How many of the best episodes bring their messages along.")
    shortest: int = parameter(2, "How many messages an episode has at least.", low=1)
    longest: int = parameter(25, "How many messages an episode has at most: the size of the buffer.", low=1)
    confidence: float = parameter(
        0.7, "A topic ends where a model is surer of it than this (0 to 1).", high=1
    )
    related: int = parameter(10, "How many known statements a prediction rests on.", low=1)

    calls: ClassVar[Calls] = Calls(chat_write=4, embed_write=2, embed_read=1, per="round")
    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        self.episodes = Dense(self.store, EPISODE)
        self.statements = Dense(self.store, STATEMENT)

    async def write(self, messages: Sequence[Message]) -> None:
        """Buffer the messages and turn completed segments into episodes."""
        store_messages(self.store, messages, BUFFER)
        held = stored_messages(self.store, BUFFER)
        before = len(held) - len(messages)
        segments = Segments(self.shortest, self.longest, held[:before])
        for start in range(before, len(held), self.longest):
            new = held[start : start + self.longest]
            segments.add(new, await self._confidences(segments, new), self.confidence)
        await self._remember(segments.closed)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return similar statements and episodes (the best with original messages), then the buffered messages."""
        held = stored_messages(self.store, BUFFER)
        if not self.store.live(EPISODE):
            return with_buffer(Recall(), held)
        vectors = await self.embed([query])
        episodes = self.episodes.scored(vectors[0], self.k)
        statements = self.statements.scored(vectors[0], self.ratio * self.k)
        originals = {found.item.entry_id: self._originals(found.item) for found in episodes[: self.originals]}
        nearest = sorted((*episodes, *statements), key=lambda one: (-one.score, one.item.order))
        along = (item for items in originals.values() for item in items)
        entries = (*(found.item for found in nearest), *along)
        notes = _notes(episodes, statements, originals)
        return with_buffer(Recall(notes=notes, entries=entries, injected_tokens=estimate(notes)), held)

    async def _confidences(self, segments: Segments, new: Sequence[StoredMessage]) -> dict[int, float]:
        """Return by message number the model's confidence of a new topic, from 0 to 1; empty without an answer."""
        numbers = segments.undecided(len(new))
        if not numbers:
            return {}
        shown = [*segments.open, *new]
        judged = shown[numbers.start - 1 :]

        def stray(one: Boundary, accepted: Sequence[Boundary]) -> str | None:
            return None if one.line in numbers else f"{one.line} is not one of {numbers[0]} to {numbers[-1]}"

        fields = {
            "before": number_messages(shown[: numbers.start - 1]),
            "new": number_messages(judged, numbers.start),
        }
        sources = [source for message in judged for source in message.item.sources]
        answer: Boundaries | None = await self.ask("boundaries", fields, sources=sources, check_item=stray)
        return {one.line: one.confidence / 100 for one in answer.boundaries} if answer else {}

    async def _remember(self, segments: Sequence[list[StoredMessage]]) -> None:
        """Store each segment as an episode, narrated by the model, then learn statements from each in order."""
        told = ["\n".join(message.note() for message in segment) for segment in segments]
        sources = [[source for message in segment for source in message.item.sources] for segment in segments]
        narrations: list[Narration | None] = await self.ask_all(
            PromptRequest("narrate", {"messages": text}, about)
            for text, about in zip(told, sources, strict=True)
        )
        times = [next((one.date for one in segment if one.date is not None), None) for segment in segments]
        texts = [
            text if story is None else f"{with_date(story.title, time)}\n{story.narrative}"
            for text, story, time in zip(told, narrations, times, strict=True)
        ]
        vectors = await self.embed(texts)
        for segment, about, story, time, text, vector in zip(
            segments, sources, narrations, times, texts, vectors, strict=True
        ):
            # An episode in its own words is its own original.
            originals = [self._original(message) for message in segment] if story is not None else []
            retire_messages(self.store, segment, BUFFER)
            meta = {
                "title": story.title if story is not None else None,
                "time": time,
                "originals": [item.entry_id for item in originals],
            }
            episode = self.store.add(EPISODE, text, sources=about, vector=vector, meta=meta)
            await self._learn(segment, await self._predict(episode))

    async def _predict(self, episode: Item) -> str | None:
        """Return the model's prediction of an episode's content from known statements; None without statements."""
        assert episode.vector is not None
        known = self.statements.search(episode.vector, self.related)
        if not known or episode.meta["title"] is None:
            return None
        fields = {"known": join_texts(known), "title": episode.meta["title"]}
        answer: Prediction | None = await self.ask("predict", fields, sources=episode.sources)
        return answer.prediction if answer else None

    async def _learn(self, segment: Sequence[StoredMessage], predicted: str | None) -> None:
        """Add statements about content of the segment that the prediction lacks; equal statements are added once."""

        def stray(one: Statement, accepted: Sequence[Statement]) -> str | None:
            wrong = [line for line in one.lines if line > len(segment)]
            return f"there is no message {wrong[0]}; the last is {len(segment)}" if wrong else None

        fields = {"predicted": predicted or "(nothing)", "messages": number_messages(segment)}
        sources = [source for message in segment for source in message.item.sources]
        answer: Statements | None = await self.ask("calibrate", fields, sources=sources, check_item=stray)
        held = {item.text for item in self.store.live(STATEMENT)}
        news: dict[str, list[str]] = {}
        for one in answer.statements if answer else ():
            said = [segment[line - 1] for line in sorted(set(one.lines))]
            text = f"- {with_date(one.statement, said[0].date)}"
            if text not in held:
                news.setdefault(text, [source for message in said for source in message.item.sources])
        vectors = await self.embed([*news])
        for (text, about), vector in zip(news.items(), vectors, strict=True):
            self.store.add(STATEMENT, text, sources=about, vector=vector)

    def _original(self, message: StoredMessage) -> Item:
        item = message.item
        return self.store.add(ORIGINAL, message.note(), sources=item.sources, role=item.role)

    def _originals(self, episode: Item) -> list[Item]:
        found = [self.store.latest(entry_id) for entry_id in episode.meta["originals"]]
        return [item for item in found if item is not None]


def _notes(
    episodes: Sequence[SearchHit], statements: Sequence[SearchHit], originals: Mapping[str, Sequence[Item]]
) -> str:
    """Return notes: the statements as a list, then the episodes, with original messages quoted by `> `."""
    known = sorted((found.item for found in statements), key=lambda item: item.order)
    blocks = [join_texts(known)] if known else []
    for episode in sorted((found.item for found in episodes), key=lambda item: item.order):
        said = [
            f"> {line}" for item in originals.get(episode.entry_id, ()) for line in item.text.splitlines()
        ]
        blocks.append("\n".join((episode.text, *said)))
    return "\n\n".join(blocks)
