"""Nemori: episodes split at topic changes, and statements about unpredicted content (Nan et al. 2025).

A model finds topic boundaries in a buffer and narrates each segment (alignment); an episode that continues a similar
one is merged with it. The model then predicts an episode from known statements and extracts the new content
(predict-calibrate). Deviations are in deviations.yaml.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.entries import Item, Vector
from memflow.memories.forgetting import FORMS
from memflow.memories.memory import Calls, Message, ModelWrittenMemory, PromptRequest, Recall, parameter
from memflow.memories.nemori.answers import (
    Boundaries,
    Boundary,
    MergeChoice,
    Narration,
    Prediction,
    Statement,
    Statements,
)
from memflow.memories.nemori.episodes import episode_sections, episode_text, recall_notes
from memflow.memories.nemori.segments import Segments, number_messages
from memflow.memories.notes import join_texts
from memflow.memories.search import Dense
from memflow.memories.verbatim import (
    StoredMessage,
    retire_messages,
    store_messages,
    stored_messages,
    with_buffer,
    with_date,
)
from memflow.tokens import estimate

BUFFER, ORIGINAL, EPISODE, STATEMENT = "buffer", "original", "episode", "statement"


@dataclass
class Nemori(ModelWrittenMemory):
    """A memory of episodes split at topic changes, and of statements about content that a model did not predict."""

    k: int = parameter(10, "Number of recalled episodes.", low=1)
    ratio: int = parameter(2, "Number of recalled statements per recalled episode.")
    originals: int = parameter(2, "Number of best episodes whose original messages are recalled, too.")
    shortest: int = parameter(2, "Minimum number of messages of an episode.", low=1)
    longest: int = parameter(25, "Maximum number of messages of an episode: the size of the buffer.", low=1)
    confidence: float = parameter(0.7, "Confidence of the model (0 to 1) above which a topic ends.", high=1)
    related: int = parameter(10, "Number of stored statements in the request for a prediction.", low=1)
    merging: str = parameter(
        "similar",
        "The episodes that a new one may be merged with: similar ones, the nearest ones (published code), or none.",
        choices=("similar", "nearest", "none"),
    )
    merge_similarity: float = parameter(0.85, "Minimum cosine of similar episodes.", low=-1, high=1)
    merge_candidates: int = parameter(
        5, "Number of nearest episodes that a new one may be merged with.", low=1
    )

    calls: ClassVar[Calls] = Calls(chat_write=6, embed_write=3, embed_read=1, per="round")
    version: ClassVar[int] = 3
    forgets: ClassVar[frozenset[str]] = FORMS
    """As the published code deletes episodes and statements: an episode ends whole, with its other messages."""

    def __post_init__(self) -> None:
        self.episodes = Dense(self.store, EPISODE)
        self.statements = Dense(self.store, STATEMENT)

    async def write(self, messages: Sequence[Message]) -> None:
        """Buffer the messages and turn completed segments into episodes."""
        store_messages(self.store, messages, BUFFER)
        buffer = stored_messages(self.store, BUFFER)
        old_count = len(buffer) - len(messages)
        segments = Segments(self.shortest, self.longest, buffer[:old_count])
        for start in range(old_count, len(buffer), self.longest):
            new_messages = buffer[start : start + self.longest]
            segments.add(new_messages, await self._confidences(segments, new_messages), self.confidence)
        await self._remember(segments.closed)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return similar statements and episodes (the best with original messages), then the buffered messages."""
        buffer = stored_messages(self.store, BUFFER)
        if not self.store.live(EPISODE):
            return with_buffer(Recall(), buffer)
        vectors = await self.embed([query], "query")
        episodes = self.episodes.scored(vectors[0], self.k)
        statements = self.statements.scored(vectors[0], self.ratio * self.k)
        originals = {hit.item.entry_id: self._originals(hit.item) for hit in episodes[: self.originals]}
        nearest = sorted((*episodes, *statements), key=lambda hit: (-hit.score, hit.item.order))
        original_items = (item for items in originals.values() for item in items)
        entries = (*(hit.item for hit in nearest), *original_items)
        notes = recall_notes(episodes, statements, originals)
        return with_buffer(Recall(notes=notes, entries=entries, injected_tokens=estimate(notes)), buffer)

    async def _confidences(self, segments: Segments, batch: Sequence[StoredMessage]) -> dict[int, float]:
        """Return by message number the model's confidence of a new topic, from 0 to 1; empty without an answer."""
        numbers = segments.possible_starts(len(batch))
        if not numbers:
            return {}
        messages = [*segments.open, *batch]
        candidates = messages[numbers.start - 1 :]

        def find_error(boundary: Boundary, accepted: Sequence[Boundary]) -> str | None:
            if boundary.line not in numbers:
                return f"{boundary.line} is not one of {numbers[0]} to {numbers[-1]}"
            return None

        fields = {
            "before": number_messages(messages[: numbers.start - 1]),
            "new": number_messages(candidates, numbers.start),
        }
        sources = [source for message in candidates for source in message.item.sources]
        answer: Boundaries | None = await self.ask(
            "boundaries",
            fields,
            sources=sources,
            check_item=find_error,
            numbers={"line": numbers[-1], "boundaries": len(numbers)},
        )
        return {boundary.line: boundary.confidence / 100 for boundary in answer.boundaries} if answer else {}

    async def _remember(self, segments: Sequence[list[StoredMessage]]) -> None:
        """Store each segment as an episode, narrated by the model, then learn statements from each in order."""
        message_texts = ["\n".join(message.note() for message in segment) for segment in segments]
        sources = [[source for message in segment for source in message.item.sources] for segment in segments]
        narrations: list[Narration | None] = await self.ask_all(
            PromptRequest("narrate", {"messages": text}, source_ids)
            for text, source_ids in zip(message_texts, sources, strict=True)
        )
        times = [next((item.date for item in segment if item.date is not None), None) for segment in segments]
        texts = [
            text if narration is None else episode_text(narration, time)
            for text, narration, time in zip(message_texts, narrations, times, strict=True)
        ]
        vectors = await self.embed(texts, "passage")
        for index, (segment, narration, vector) in enumerate(zip(segments, narrations, vectors, strict=True)):
            # An episode without a narration consists of its messages, so it has no originals and is not merged.
            title, originals, candidates = None, list[Item](), list[Item]()
            if narration is not None:
                title = narration.title
                originals = [self._add_original(message) for message in segment]
                candidates = self._merge_candidates(vector)
            retire_messages(self.store, segment, BUFFER)
            meta = {"title": title, "time": times[index], "originals": [item.entry_id for item in originals]}
            episode = self.store.add(EPISODE, texts[index], sources=sources[index], vector=vector, meta=meta)
            merged_episode = await self._merge(episode, candidates)
            if merged_episode is None:
                await self._learn(segment, await self._predict(episode))
            else:
                merged_messages = [
                    StoredMessage(item, item.meta["date"]) for item in self._originals(merged_episode)
                ]
                await self._learn(merged_messages, await self._predict(merged_episode))

    async def _merge(self, new: Item, candidates: Sequence[Item]) -> Item | None:
        """Merge a new episode with the candidate that the model names, if any. Return the merged episode or None."""
        if not candidates:
            return None

        def find_error(choice: MergeChoice) -> str | None:
            if choice.episode > len(candidates):
                return (
                    f"there is no episode {choice.episode}: the episodes are numbered 1 to {len(candidates)}, "
                    "and 0 is none"
                )
            return None

        fields = {"candidates": episode_sections(candidates), "new": new.text}
        choice: MergeChoice | None = await self.ask(
            "merge", fields, sources=new.sources, check=find_error, numbers={"episode": len(candidates)}
        )
        if choice is None or choice.episode == 0:
            return None
        old = candidates[choice.episode - 1]
        sources = list(dict.fromkeys((*old.sources, *new.sources)))
        fields = {"old": old.text, "new": new.text}
        narration: Narration | None = await self.ask("combine", fields, sources=sources)
        if narration is None:
            return None
        time = old.meta["time"] or new.meta["time"]
        text = episode_text(narration, time)
        [vector] = await self.embed([text], "passage")
        meta = {
            "title": narration.title,
            "time": time,
            "originals": [*old.meta["originals"], *new.meta["originals"]],
        }
        self.store.retire(new.entry_id)
        return self.store.revise(old, text=text, sources=sources, vector=vector, meta=meta)

    def _merge_candidates(self, vector: Vector) -> list[Item]:
        """Return the episodes that an episode may be merged with, nearest first, as `merging` selects them."""
        if self.merging == "none":
            return []
        hits = self.episodes.scored(vector, self.merge_candidates)
        threshold = self.merge_similarity if self.merging == "similar" else -1.0
        return [hit.item for hit in hits if hit.score >= threshold and hit.item.meta["title"] is not None]

    async def _predict(self, episode: Item) -> str | None:
        """Return the model's prediction of a narrated episode's content from related statements; None without them."""
        assert episode.vector is not None
        statements = self.statements.search(episode.vector, self.related)
        if not statements or episode.meta["title"] is None:
            return None
        fields = {"known": join_texts(statements), "title": episode.meta["title"]}
        answer: Prediction | None = await self.ask("predict", fields, sources=episode.sources)
        return answer.prediction if answer else None

    async def _learn(self, segment: Sequence[StoredMessage], predicted: str | None) -> None:
        """Add statements about content of the segment that the prediction lacks; equal statements are added once."""

        def find_error(statement: Statement, accepted: Sequence[Statement]) -> str | None:
            for line in statement.lines:
                if line > len(segment):
                    return f"there is no message {line}; the last is {len(segment)}"
            return None

        fields = {"predicted": predicted or "(nothing)", "messages": number_messages(segment)}
        sources = [source for message in segment for source in message.item.sources]
        answer: Statements | None = await self.ask(
            "calibrate", fields, sources=sources, check_item=find_error, numbers={"lines": len(segment)}
        )
        stored_texts = {item.text for item in self.store.live(STATEMENT)}
        new_texts: dict[str, list[str]] = {}
        for statement in answer.statements if answer else ():
            cited_messages = [segment[line - 1] for line in sorted(set(statement.lines))]
            text = f"- {with_date(statement.statement, cited_messages[0].date)}"
            if text not in stored_texts:
                new_texts.setdefault(
                    text, [source for message in cited_messages for source in message.item.sources]
                )
        vectors = await self.embed([*new_texts], "passage")
        for (text, source_ids), vector in zip(new_texts.items(), vectors, strict=True):
            self.store.add(STATEMENT, text, sources=source_ids, vector=vector)

    def _add_original(self, message: StoredMessage) -> Item:
        item = message.item
        meta = {"date": message.date}
        return self.store.add(ORIGINAL, message.note(), sources=item.sources, role=item.role, meta=meta)

    def _originals(self, episode: Item) -> list[Item]:
        versions = [self.store.latest(entry_id) for entry_id in episode.meta["originals"]]
        return [item for item in versions if item is not None]
