"""The scripted chat's handlers for Nemori. Messages that share words have the same topic."""

import re

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.nemori.answers import (
    Boundaries,
    Boundary,
    MergeChoice,
    Narration,
    Prediction,
    Statement,
    Statements,
)
from memflow.memories.script_helpers import statements, subject, word_overlap

MERGE_THRESHOLD = 0.5
"""The share of common words from which two episodes are one."""
MAX_BOUNDARIES, MAX_STATEMENTS = 12, 6
"""The maximum number of items in an answer."""
MAX_TITLE, MAX_NARRATIVE, MAX_PREDICTION, MAX_STATEMENT = 80, 800, 600, 160
"""The maximum number of characters in a text."""

_DATE = re.compile(r"^\[[^\]]*\] ")
_HEADING = re.compile(r"^## Episode (\d+)\n", re.MULTILINE)


def _boundaries(request: ChatRequest) -> Boundaries:
    """Return the boundaries of topics: statements that share no words with the statements before them."""
    topic = " ".join(statements(_plain(request.fields["before"])))
    boundaries = []
    for number, text in _messages(request.fields["new"]):
        sentences = " ".join(statements(text))
        if sentences and topic and word_overlap(sentences, topic) == 0:
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
    new_episode = _DATE.sub("", request.fields["new"])
    numbers_and_texts = _HEADING.split(request.fields["candidates"])[1:]
    candidates = zip(numbers_and_texts[::2], numbers_and_texts[1::2], strict=True)
    for position, (number, text) in enumerate(candidates, 1):
        # A heading with another number is part of a message.
        if int(number) == position and word_overlap(_DATE.sub("", text), new_episode) >= MERGE_THRESHOLD:
            return MergeChoice(episode=position)
    return MergeChoice(episode=0)


def _combine(request: ChatRequest) -> Narration:
    """Return the title of the old episode, and the sentences of both narratives, each once."""
    (title, _, old_text), (_, _, new_text) = (request.fields[name].partition("\n") for name in ("old", "new"))
    sentences = dict.fromkeys(statements(old_text) + statements(new_text))
    return Narration(title=_DATE.sub("", title), narrative=" ".join(sentences) or title)


def _predict(request: ChatRequest) -> Prediction:
    """Return the beginning of what is known about the topic."""
    return Prediction(prediction=request.fields["known"][:MAX_PREDICTION])


def _calibrate(request: ChatRequest) -> Statements:
    """Return the statements of the messages that the prediction lacks, each with the first message that has it."""
    first_messages: dict[str, int] = {}
    for number, text in _messages(request.fields["messages"]):
        for sentence in statements(text):
            statement = sentence[:MAX_STATEMENT]
            if statement not in request.fields["predicted"]:
                first_messages.setdefault(statement, number)
    answers = [Statement(statement=statement, lines=[number]) for statement, number in first_messages.items()]
    return Statements(statements=answers[:MAX_STATEMENTS])


def _messages(lines: str) -> list[tuple[int, str]]:
    """Return the numbered messages in a text. A line that does not begin with the next number continues a message."""
    messages: list[tuple[int, str]] = []
    for line in lines.splitlines():
        number, separator, text = line.partition(". ")
        if separator and number.isdecimal() and (not messages or int(number) == messages[-1][0] + 1):
            messages.append((int(number), text))
        elif messages:
            messages[-1] = (messages[-1][0], f"{messages[-1][1]}\n{line}")
    return messages


def _plain(lines: str) -> str:
    return "\n".join(text for _, text in _messages(lines))


HANDLERS: dict[str, Handler] = {
    "nemori/boundaries": _boundaries,
    "nemori/narrate": _narrate,
    "nemori/merge": _merge,
    "nemori/combine": _combine,
    "nemori/predict": _predict,
    "nemori/calibrate": _calibrate,
}
