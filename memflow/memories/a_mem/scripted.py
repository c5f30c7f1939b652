"""The scripted chat's handlers for A-Mem: keywords are words of the message, and notes that share words are linked."""

import re

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.a_mem.answers import Decision, Described, Evolved, Keywords
from memflow.memories.script_helpers import statements, subject, word_overlap
from memflow.words import search_words

ALIKE = 0.2
"""The share of common words from which two notes are linked."""
LINKED = 5
"""The most notes that a note is linked with."""

_HEADING = re.compile(r"^## Note (\d+)\n", re.MULTILINE)


def _words(text: str, count: int) -> list[str]:
    return [*dict.fromkeys(word[:32] for word in search_words(text))][:count]


def _describe(request: ChatRequest) -> Described:
    """Return the first words of a message as keywords, its first statement as context, and its subject as tags."""
    message = request.fields["message"]
    sentences = statements(message) or [" ".join(message.split())]
    return Described(
        keywords=_words(" ".join(sentences), 6),
        context=sentences[0][:160] or "(empty)",
        tags=_words(subject(sentences[0]), 4),
    )


def _connect(request: ChatRequest) -> Decision:
    """Return the decision to link similar notes. The new and the most similar note get each other's first tag."""
    note = request.fields["note"]
    pieces = _HEADING.split(request.fields["neighbours"])[1:]
    texts: list[str] = []
    for number, text in zip(pieces[::2], pieces[1::2], strict=True):
        # A heading with another number is part of a message, in the note before it.
        if int(number) == len(texts) + 1:
            texts.append(text)
    overlaps = [word_overlap(text, note) for text in texts]
    links = [number for number, overlap in enumerate(overlaps, 1) if overlap >= ALIKE][:LINKED]
    tags: list[str] = []
    changed_notes = []
    if links:
        closest = max(links, key=lambda number: overlaps[number - 1])
        old_parts, new_parts = _parts(texts[closest - 1]), _parts(note)
        old_tags, new_tags = (
            [tag for tag in part["tags"].split(", ") if tag] for part in (old_parts, new_parts)
        )
        tags = _with_first(new_tags, old_tags)
        if extended_tags := _with_first(old_tags, new_tags):
            keywords = [word for word in old_parts["keywords"].split(", ") if word]
            context = old_parts["context"] or "(empty)"
            changed_notes = [Evolved(note=closest, keywords=keywords, context=context, tags=extended_tags)]
    return Decision(links=links, tags=tags, evolved=changed_notes)


def _with_first(tags: list[str], other_tags: list[str]) -> list[str]:
    """Return the tags with the first tag of `other_tags` added, or an empty list if no tag can be added."""
    return [*tags, other_tags[0]] if other_tags and other_tags[0] not in tags and len(tags) < 4 else []


def _parts(note: str) -> dict[str, str]:
    """Return the keywords, tags and context, which are the last lines of a note's text."""
    parts = {"keywords": "", "tags": "", "context": ""}
    for line in note.strip().splitlines()[-3:]:
        name, colon, value = line.partition(": ")
        if colon and name in parts:
            parts[name] = value
    return parts


def _keywords(request: ChatRequest) -> Keywords:
    question = request.fields["question"]
    return Keywords(keywords=_words(question, 8) or [question.strip()[:32] or "(nothing)"])


HANDLERS: dict[str, Handler] = {
    "a_mem/connect": _connect,
    "a_mem/describe": _describe,
    "a_mem/keywords": _keywords,
}
