"""A-Mem: one note per message, linked with older notes and able to change them (Xu et al. 2025, section 3).

A model describes each message (3.1), links its note with similar notes (3.2), and describes these notes again (3.3).
Links may change the tags of the new note, as in the published code. A query finds notes and the notes linked with them
(3.4). Deviations are in deviations.yaml.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from memflow.chat.limits import ItemCheck
from memflow.memories.a_mem.answers import Decision, Described, Evolved, Keywords
from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.forgetting import FORMS
from memflow.memories.memory import Calls, Message, ModelWrittenMemory, PromptRequest, Recall, parameter
from memflow.memories.notes import join_texts
from memflow.memories.search import Dense
from memflow.memories.verbatim import with_date
from memflow.tokens import estimate

NOTE = "note"


@dataclass(frozen=True, slots=True)
class Note:
    """A-Mem's note on one message, stored as the `meta` of an entry.

    `number` is the position of the message and stays the same when the note is rewritten. `links` are the ids that the
    linked entries had at the time of writing. `evolved_by` is the message whose note last changed the description.
    """

    number: int
    content: str
    time: str | None = None
    keywords: Sequence[str] = ()
    context: str = ""
    tags: Sequence[str] = ()
    links: Sequence[str] = field(default=())
    evolved_by: str | None = None

    @classmethod
    def from_entry(cls, item: Item) -> "Note":
        """Return the note that an entry stores in its `meta`."""
        return cls(**item.meta)

    @property
    def meta(self) -> dict[str, Any]:
        """The note as a dictionary, to be stored as the `meta` of an entry."""
        return asdict(self)

    @property
    def embedding_text(self) -> str:
        """The text of the note that is embedded: content, keywords, tags and context, without the time (equation 3)."""
        description = (", ".join(self.keywords), ", ".join(self.tags), self.context)
        return "\n".join(text for text in (self.content, *description) if text)

    @property
    def text(self) -> str:
        """The note as text for prompts, one line per non-empty part."""
        parts = {"context": self.context, "keywords": ", ".join(self.keywords), "tags": ", ".join(self.tags)}
        lines = [f"{name}: {part}" for name, part in parts.items() if part]
        return "\n".join([with_date(self.content, self.time), *lines])

    def with_description(self, description: Described | Evolved) -> "Note":
        """Return a copy of the note with new keywords, context and tags."""
        return replace(
            self, keywords=description.keywords, context=description.context, tags=description.tags
        )


class NoteLinks:
    """The links between the live notes of a store, updated like an index. Links work in both directions."""

    def __init__(self, store: EntryStore) -> None:
        self.store = store
        self._version = 0
        self._notes: dict[int, Item] = {}
        self._linked_by: dict[int, list[int]] = defaultdict(list)

    def around(self, item: Item) -> list[Item]:
        """Return the live notes that `item` links to, in order, then the live notes that link to `item`."""
        self._process_changes()
        targets = [target for link in item.meta["links"] if (target := self.store.latest(link)) is not None]
        # Sorted, because a restored store yields notes in the order of their last versions.
        linking_numbers = sorted(self._linked_by.get(item.meta["number"], ()))
        return [*targets, *(self._notes[number] for number in linking_numbers if number in self._notes)]

    def _process_changes(self) -> None:
        """Update the notes and their links by the entries that changed since the last call."""
        for item in self.store.changes(self._version):
            if item.kind != NOTE:
                continue
            number = item.meta["number"]
            if item.until is not None:
                if self.store.latest(item.entry_id) is None:  # forgotten
                    self._notes.pop(number, None)
                continue
            if number not in self._notes:  # later versions of a note have the same links
                for link in item.meta["links"]:
                    if (target := self.store.latest(link)) is not None:
                        self._linked_by[target.meta["number"]].append(number)
            self._notes[number] = item
        self._version = self.store.version


@dataclass
class AMem(ModelWrittenMemory):
    """A memory of notes on messages that a model writes, links and rewrites, found by embeddings and links."""

    k: int = parameter(10, "Number of notes found by the query.", low=1)
    linked: int = parameter(10, "Maximum number of linked notes that are recalled, too.")
    k_links: int = parameter(5, "Number of older notes that a new note may be linked to.")
    query: str = parameter(
        "question", "The text searched for: the question, or its keywords.", choices=("question", "keywords")
    )

    calls: ClassVar[Calls] = Calls(chat_write=2, chat_read=1, embed_write=2, embed_read=1, per="message")
    version: ClassVar[int] = 2
    forgets: ClassVar[frozenset[str]] = FORMS
    """As the published code deletes a note: what other notes took over from it, in evolution, stays."""

    def __post_init__(self) -> None:
        self.index = Dense(self.store, NOTE)
        self.note_links = NoteLinks(self.store)

    async def write(self, messages: Sequence[Message]) -> None:
        """Describe the messages concurrently and embed them with one request, then link their notes one by one."""
        notes = self._undescribed_notes(messages)
        sources = [(message.message_id,) for message in messages]
        answers = await self.ask_all(
            PromptRequest("describe", {"message": note.content}, source_ids)
            for note, source_ids in zip(notes, sources, strict=True)
        )
        notes = [
            note.with_description(description) if description else note
            for note, description in zip(notes, answers, strict=True)
        ]
        vectors = await self.embed([note.embedding_text for note in notes], "passage")
        for note, source, vector in zip(notes, sources, vectors, strict=True):
            await self._connect(note, source, vector)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the notes found by the query, then the notes that they link to. The text is in message order."""
        if self.store.newest(NOTE) is None:
            return Recall()
        failures: list[str] = []
        if self.query == "keywords":
            answer: Keywords = await self.ask_to_read("keywords", {"question": query}, failed=failures)
            query = ", ".join(answer.keywords)
        vectors = await self.embed([query], "query")
        notes = self.index.search(vectors[0], self.k)
        entries = (*notes, *self._linked_notes(notes))
        notes_text = join_texts(sorted(entries, key=lambda item: item.meta["number"]))
        tokens = estimate(notes_text)
        return Recall(notes=notes_text, entries=entries, injected_tokens=tokens, failed=tuple(failures))

    def _undescribed_notes(self, messages: Sequence[Message]) -> list[Note]:
        """Return a note without description for each message. A message without a date gets the date before it."""
        # A message's note is written after those it changes, so the last entry is the newest message's. It may be
        # forgotten.
        newest_note = next((item for item in reversed(self.store) if item.kind == NOTE), None)
        first_number = newest_note.meta["number"] + 1 if newest_note else 0
        time = newest_note.meta["time"] if newest_note else None
        notes = []
        for number, message in enumerate(messages, first_number):
            time = message.sent_at or time
            notes.append(Note(number, message.line(), time))
        return notes

    async def _connect(self, note: Note, source: tuple[str, ...], vector: Vector) -> None:
        """Rewrite the descriptions of similar notes, then add the note with its links and, if they change, new tags."""
        neighbors = self.index.search(vector, self.k_links)
        decision: Decision | None = None
        if neighbors:
            fields = {"neighbours": note_sections(neighbors), "note": note.text}
            decision = await self.ask(
                "connect",
                fields,
                sources=source,
                check_item=_reference_check(len(neighbors)),
                numbers=dict.fromkeys(("links", "note", "evolved"), len(neighbors)),
            )
        if decision is not None:
            linked_ids = dict.fromkeys(neighbors[number - 1].entry_id for number in decision.links)
            linked_note = replace(note, links=[*linked_ids], tags=decision.tags or note.tags)
            changed_notes = _evolve(neighbors, decision.evolved, source[0])
            # One request embeds the changed neighbors and the new note, if its tags changed.
            texts = [changed_note.embedding_text for changed_note in changed_notes.values()]
            is_retagged = linked_note.tags != note.tags
            if is_retagged:
                texts.append(linked_note.embedding_text)
            vectors = await self.embed(texts, "passage")
            for (index, changed_note), new_vector in zip(changed_notes.items(), vectors, strict=False):
                self.store.revise(
                    neighbors[index], text=changed_note.text, vector=new_vector, meta=changed_note.meta
                )
            if is_retagged:
                vector = vectors[-1]
            note = linked_note
        self.store.add(NOTE, note.text, sources=source, vector=vector, meta=note.meta)

    def _linked_notes(self, notes: Sequence[Item]) -> list[Item]:
        """Return up to `self.linked` notes that `notes` link to, without `notes` themselves, in the order of these."""
        linked = {item.entry_id: item for note in notes for item in self.note_links.around(note)}
        for note in notes:
            linked.pop(note.entry_id, None)
        return [*linked.values()][: self.linked]


def _evolve(neighbors: Sequence[Item], changes: Sequence[Evolved], message_id: str) -> dict[int, Note]:
    """Return the changed versions of similar notes, by position in `neighbors`, without notes that did not change."""
    versions = {}
    for change in changes:
        note = Note.from_entry(neighbors[change.note - 1]).with_description(change)
        versions[change.note - 1] = replace(note, evolved_by=message_id)
    return {index: version for index, version in versions.items() if version.text != neighbors[index].text}


def note_sections(notes: Sequence[Item]) -> str:
    """Return the notes as text for a prompt, each under a numbered heading."""
    return "\n\n".join(f"## Note {number}\n{item.text}" for number, item in enumerate(notes, 1))


def _reference_check(count: int) -> ItemCheck:
    """Return a function that finds the error in a link or change: a number above `count`, or a note changed twice."""

    def check(item: int | str | Evolved, accepted: Sequence[int | str | Evolved]) -> str | None:
        if isinstance(item, str):
            return None  # A tag needs no check.
        number = item.note if isinstance(item, Evolved) else item
        if number > count:
            return f"there is no note {number}: the notes are numbered 1 to {count}"
        changed_notes = [change.note for change in accepted if isinstance(change, Evolved)]
        if isinstance(item, Evolved) and item.note in changed_notes:
            return f"note {number} is changed twice"
        return None

    return check
