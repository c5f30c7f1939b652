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
    return Boundaries(boundaries=boundaries[:12])


def _narrate(request: ChatRequest) -> Narration:
    messages = request.fields["messages"]
    stated = statements(messages) or [messages]
    return Narration(title=subject(stated[0])[:80] or stated[0][:80], narrative=" ".join(stated)[:800])


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


def _combine(request: ChatRequest) -> Narration:
    """Return the title of the old episode, and the sentences of both narratives, each once."""
    (title, _, old), (_, _, new) = (request.fields[name].partition("\n") for name in ("old", "new"))
    sentences = dict.fromkeys(statements(old) + statements(new))
    return Narration(title=_DATE.sub("", title), narrative=" ".join(sentences) or title)


def _predict(request: ChatRequest) -> Prediction:
    return Prediction(prediction=request.fields["known"][:600])


def _calibrate(request: ChatRequest) -> Statements:
    numbers_by_sentence: dict[str, int] = {}
    for number, text in _messages(request.fields["messages"]):
        for sentence in statements(text):
            if sentence[:160] not in request.fields["predicted"]:
                numbers_by_sentence.setdefault(sentence[:160], number)
    new_statements = [
        Statement(statement=sentence, lines=[number]) for sentence, number in numbers_by_sentence.items()
    ]
    return Statements(statements=new_statements[:6])


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
