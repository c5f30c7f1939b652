"""The scripted chat as AWI's writer: every statement of the user under what it is about. No language model."""

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.awi.answers import Fact, Facts
from memflow.memories.plain import statements, subject


def _update(request: ChatRequest) -> Facts:
    said = {subject(sentence)[:60]: sentence[:200] for sentence in statements(request.fields["messages"])}
    return Facts(facts=[Fact(label=label, value=value) for label, value in [*said.items()][:8]])


HANDLERS: dict[str, Handler] = {"awi/update": _update}
