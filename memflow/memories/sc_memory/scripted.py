"""The controller and summarizer of sc_memory for the scripted chat, which decide by shared words."""

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.sc_memory.answers import Activation, Sufficiency, Summary
from memflow.memories.script_helpers import statements
from memflow.words import search_words


def _summarise(request: ChatRequest) -> Summary:
    message = request.fields["message"]
    return Summary(summary=next(iter(statements(message)), message)[:240])


def _coverage(request: ChatRequest, *names: str) -> float:
    """Return the share of the query's words that occur in the prompt fields `names`; 1 for a query without words."""
    query_words = set(search_words(request.fields["query"]))
    known_words = {word for name in names for word in search_words(request.fields[name])}
    return len(query_words & known_words) / len(query_words) if query_words else 1.0


HANDLERS: dict[str, Handler] = {
    "sc_memory/summarise": _summarise,
    "sc_memory/activate": lambda request: Activation(needed=_coverage(request, "flash") < 1),
    "sc_memory/suffice": lambda request: Sufficiency(
        sufficient=_coverage(request, "flash", "summaries") >= 0.5
    ),
}
