"""MemoryOS's writer for the scripted chat, which returns the user's name and statements."""

import re

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.memory_os.answers import Attribute, Fact, Facts, Traits
from memflow.memories.script_helpers import numbered_statements

_NAME = re.compile(r"\b[Mm]y name is (\w+)")


def _profile(request: ChatRequest) -> Traits:
    names = [
        Attribute(attribute="name", value=match[1], page=page)
        for page, sentence in numbered_statements(request.fields["pages"], speaker="user")
        if (match := _NAME.search(sentence))
    ]
    return Traits(attributes=names[-1:], traits=[])


def _knowledge(request: ChatRequest) -> Facts:
    user, assistant = (
        [
            Fact(text=text[:160], page=page)
            for page, text in numbered_statements(request.fields["pages"], speaker=role)
        ]
        for role in ("user", "assistant")
    )
    return Facts(user=user[:5], assistant=assistant[:3])


HANDLERS: dict[str, Handler] = {"memory_os/profile": _profile, "memory_os/knowledge": _knowledge}
