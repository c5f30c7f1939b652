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

ONE_EPISODE = 0.5
"""The share of common words from which two episodes are one."""

_DATE = re.compile(r"^\[[^\]]*\] ")
_HEADING = re.compile(r"^## Episode (\d+)\n", re.MULTILINE)


def _boundaries(request: ChatRequest) -> Boundaries:
    """Return the boundaries of topics: statements that share no words with the statements before them."""
    topic, found = " ".join(statements(_plain(request.fields["before"]))), []
    for number, text in _messages(request.fields["new"]):
        said = " ".join(statements(text))
        if said and topic and word_overlap(said, topic) == 0:
            found.append(Boundary(line=number, confidence=90))
            topic = said
        else:
            topic = f"{topic} {said}".strip()
    return Boundaries(boundaries=found[:12])


def _narrate(request: ChatRequest) -> Narration:
    messages = request.fields["messages"]
    said = statements(messages) or [messages]
    return Narration(title=subject(said[0])[:80] or said[0][:80], narrative=" ".join(said)[:800])


def _merge(request: ChatRequest) -> MergeChoice:
    """Return the number of the first candidate with at least half of its words in the new episode, or 0."""
    new = _DATE.sub("", request.fields["new"])
    pieces = _HEADING.split(request.fields["candidates"])[1:]
    for at, (number, text) in enumerate(zip(pieces[::2], pieces[1::2], strict=True), 1):
        # A heading that is out of turn is part of what was said.
        if int(number) == at and word_overlap(_DATE.sub("", text), new) >= ONE_EPISODE:
            return MergeChoice(episode=at)
    return MergeChoice(episode=0)


def _combine(request: ChatRequest) -> Narration:
    """Return the title of the old episode, and the sentences of both narratives, each once."""
    (title, _, old), (_, _, new) = (request.fields[name].partition("\n") for name in ("old", "new"))
    said = dict.fromkeys(statements(old) + statements(new))
    return Narration(title=_DATE.sub("", title), narrative=" ".join(said) or title)


def _predict(request: ChatRequest) -> Prediction:
    return Prediction(prediction=request.fields["known"][:600])


def _calibrate(request: ChatRequest) -> Statements:
    news: dict[str, int] = {}
    for number, text in _messages(request.fields["messages"]):
        for sentence in statements(text):
            if sentence[:160] not in request.fields["predicted"]:
                news.setdefault(sentence[:160], number)
    found = [Statement(statement=sentence, lines=[number]) for sentence, number in [*news.items()][:6]]
    return Statements(statements=found)


def _messages(lines: str) -> list[tuple[int, str]]:
    """Return the numbered messages in a text. A line that does not begin with the next number continues a message."""
    found: list[tuple[int, str]] = []
    for line in lines.splitlines():
        number, point, text = line.partition(". ")
        if point and number.isdecimal() and (not found or int(number) == found[-1][0] + 1):
            found.append((int(number), text))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line}")
    return found


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
