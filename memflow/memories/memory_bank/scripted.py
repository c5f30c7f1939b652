"""The scripted chat's handlers for MemoryBank: they return statements and frequent subjects."""

from collections import Counter

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.memory_bank.answers import Portrait, Summary, Traits
from memflow.memories.script_helpers import statements, subject


def _day(request: ChatRequest) -> Summary:
    return Summary(text=_short(statements(request.fields["messages"]), "Nothing was stated."))


def _traits(request: ChatRequest) -> Traits:
    subject_counts = Counter(subject(sentence) for sentence in statements(request.fields["messages"]))
    subjects = ", ".join(name for name, _ in subject_counts.most_common(3))
    return Traits(text=f"Speaks of {subjects}."[:300] if subjects else "")


def _short(sentences: list[str], default: str) -> str:
    return " ".join(sentences)[:600].strip() or default


def _newest(request: ChatRequest) -> str:
    return request.fields["days"][-600:].strip() or "Nothing."


HANDLERS: dict[str, Handler] = {
    "memory_bank/day": _day,
    "memory_bank/traits": _traits,
    "memory_bank/history": lambda request: Summary(text=_newest(request)),
    "memory_bank/portrait": lambda request: Portrait(text=_newest(request)),
}
