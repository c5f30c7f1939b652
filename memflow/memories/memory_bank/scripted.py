"""MemoryBank's writer for the scripted chat, which returns statements and frequent subjects."""

from collections import Counter

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.memory_bank.answers import Portrait, Summary, Traits
from memflow.memories.script_helpers import statements, subject


def _day(request: ChatRequest) -> Summary:
    return Summary(text=_short(statements(request.fields["messages"]), "Nothing was stated."))


def _traits(request: ChatRequest) -> Traits:
    said = Counter(subject(sentence) for sentence in statements(request.fields["messages"]))
    about = ", ".join(name for name, _ in said.most_common(3))
    return Traits(text=f"Speaks of {about}."[:300] if about else "")


def _short(sentences: list[str], otherwise: str) -> str:
    return " ".join(sentences)[:600].strip() or otherwise


def _newest(request: ChatRequest) -> str:
    return request.fields["days"][-600:].strip() or "Nothing."


HANDLERS: dict[str, Handler] = {
    "memory_bank/day": _day,
    "memory_bank/traits": _traits,
    "memory_bank/history": lambda request: Summary(text=_newest(request)),
    "memory_bank/portrait": lambda request: Portrait(text=_newest(request)),
}
