"""The scripted chat's rating of memories for generative agents: the more statements, the higher."""

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.generative_agent.answers import Rating
from memflow.memories.script_helpers import statements


def _importance(request: ChatRequest) -> Rating:
    return Rating(importance=min(10, 1 + 3 * len(statements(request.fields["memory"]))))


HANDLERS: dict[str, Handler] = {"generative_agent/importance": _importance}
