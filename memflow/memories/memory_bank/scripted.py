"""MemoryBank's writer for the scripted chat: statements and frequent subjects."""

from collections import Counter

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.memory_bank.answers import Portrait, Summary, Traits
from memflow.memories.script_helpers import statements, subject


def _day(request: ChatRequest) -> Summary:
    """Return the first statements."""
    return Summary(text=_short(statements(request.fields["messages"]), "Nothing was stated."))


def _traits(request: ChatRequest) -> Traits:
    """Return the most frequent subjects."""
    said = Counter(subject(sentence) for sentence in statements(request.fields["messages"]))
    about = ", ".join(name for name, _ in said.most_common(3))
    return Traits(text=f"Speaks of {about}."[:300] if about else "")


def _history(request: ChatRequest) -> Summary:
    """Return the newest days that fit."""
    return Summary(text=_newest(request.fields["days"]))


def _portrait(request: ChatRequest) -> Portrait:
    """Return the newest observations that fit."""
    return Portrait(text=_newest(request.fields["days"]))


def _short(sentences: list[str], otherwise: str) -> str:
    return " ".join(sentences)[:600].strip() or otherwise


def _newest(days: str) -> str:
    return days[-600:].strip() or "Nothing."


HANDLERS: dict[str, Handler] = {
    "memory_bank/day": _day,
    "memory_bank/traits": _traits,
    "memory_bank/history": _history,
    "memory_bank/portrait": _portrait,
}
