"""The scripted chat's handlers for Nemori. Messages that share words have the same topic."""

import re
from itertools import groupby
from operator import itemgetter

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.nemori.answers import (
    Boundaries,
    Boundary,
    MergeChoice,
    Narration,
    Statement,
    Statements,
)
from memflow.memories.script_helpers import numbered_statements, statements, subject, word_overlap

MERGE_THRESHOLD = 0.5
"""The share of common words from which two episodes are one."""
MAX_BOUNDARIES, MAX_STATEMENTS = 12, 6
"""The maximum number of items in an answer."""
MAX_TITLE, MAX_NARRATIVE, MAX_STATEMENT = 80, 800, 160
"""The maximum number of characters in a text."""

_DATE = re.compile(r"^\[[^\]]*\] ")
_HEADING = re.compile(r"^## Episode (\d+)\n", re.MULTILINE)


def _boundaries(request: ChatRequest) -> Boundaries:
    """Return the boundaries of topics: messages whose statements share no words with the statements before them."""
    topic = " ".join(sentence for _, sentence in numbered_statements(request.fields["before"]))
    boundaries = []
    for number, message in groupby(numbered_statements(request.fields["new"]), key=itemgetter(0)):
        sentences = " ".join(sentence for _, sentence in message)
        if topic and word_overlap(sentences, topic) == 0:
            boundaries.append(Boundary(line=number, confidence=90))
            topic = sentences
        else:
            topic = f"{topic} {sentences}".strip()
    return Boundaries(boundaries=boundaries[:MAX_BOUNDARIES])


def _narrate(request: ChatRequest) -> Narration:
    """Return the statements of the messages, and the subject of the first as the title."""
    messages = request.fields["messages"]
    sentences = statements(messages) or [messages]
    title = subject(sentences[0]) or sentences[0]
    return Narration(title=title[:MAX_TITLE], narrative=" ".join(sentences)[:MAX_NARRATIVE])


def _merge(request: ChatRequest) -> MergeChoice:
    """Return the number of the first candidate whose words overlap with the new episode's by at least half, or 0.

    The overlap is the Jaccard similarity.
    """
    new = _DATE.sub("", request.fields["new"])
    numbers_and_texts = _HEADING.split(request.fields["candidates"])[1:]
    candidates = zip(numbers_and_texts[::2], numbers_and_texts[1::2], strict=True)
    for position, (number, text) in enumerate(candidates, 1):
        # A heading with another number is part of a message.
        if int(number) == position and word_overlap(_DATE.sub("", text), new) >= MERGE_THRESHOLD:
            return MergeChoice(episode=position)
    return MergeChoice(episode=0)


def _calibrate(request: ChatRequest) -> Statements:
    """Return the statements of the messages that the prediction lacks, each with the first message that has it."""
    first_messages: dict[str, int] = {}
    for number, sentence in numbered_statements(request.fields["messages"]):
        statement = sentence[:MAX_STATEMENT]
        if statement not in request.fields["predicted"]:
            first_messages.setdefault(statement, number)
    new = [Statement(statement=statement, lines=[number]) for statement, number in first_messages.items()]
    return Statements(statements=new[:MAX_STATEMENTS])


HANDLERS: dict[str, Handler] = {
    "nemori/boundaries": _boundaries,
    "nemori/narrate": _narrate,
    "nemori/merge": _merge,
    "nemori/calibrate": _calibrate,
}
