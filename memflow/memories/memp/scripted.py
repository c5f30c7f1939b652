"""Memp's judge of outcomes for the scripted chat, which looks for a few keywords."""

import re

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.memp.answers import Outcome

_COMPLAINT = re.compile(r"\b(?:wrong|incorrect|not what|not right|no good)\b|不对|错了|不满意", re.IGNORECASE)
_PRAISE = re.compile(r"\b(?:thanks|thank you|great|perfect|that helps)\b|谢谢|很好|满意", re.IGNORECASE)


def _outcome(request: ChatRequest) -> Outcome:
    user_lines = [line for line in request.fields["exchange"].splitlines() if line.startswith("user: ")]
    for user_message in (request.fields["after"], *user_lines[:0:-1]):
        if _COMPLAINT.search(user_message):
            return Outcome(outcome="failure")
        if _PRAISE.search(user_message):
            return Outcome(outcome="success")
    return Outcome(outcome="unclear")


HANDLERS: dict[str, Handler] = {"memp/outcome": _outcome}
