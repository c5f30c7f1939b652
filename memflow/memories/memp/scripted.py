"""Memp's writer and judge for the scripted chat, which use first words, statements and a few keywords."""

import re

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.memp.answers import Outcome, Procedure, Reflection, Rewrite
from memflow.memories.script_helpers import statements

_COMPLAINT = re.compile(r"\b(?:wrong|incorrect|not what|not right|no good)\b|不对|错了|不满意", re.IGNORECASE)
_PRAISE = re.compile(r"\b(?:thanks|thank you|great|perfect|that helps)\b|谢谢|很好|满意", re.IGNORECASE)


def _build(request: ChatRequest) -> Procedure:
    trajectory = request.fields["trajectory"]
    lines = [line for line in trajectory.splitlines() if line.strip() and not line.startswith("[")]
    first = lines[0] if lines else trajectory
    query = first.partition(": ")[2].strip()[:160] or first[:160]
    return Procedure(query=query, workflow=" ".join(statements("\n".join(lines)))[:600] or query)


def _outcome(request: ChatRequest) -> Outcome:
    user_lines = [line for line in request.fields["exchange"].splitlines() if line.startswith("user: ")]
    for user_message in (request.fields["after"], *user_lines[:0:-1]):
        if _COMPLAINT.search(user_message):
            return Outcome(outcome="failure")
        if _PRAISE.search(user_message):
            return Outcome(outcome="success")
    return Outcome(outcome="unclear")


def _reflect(request: ChatRequest) -> Reflection:
    complaint = request.fields["after"]
    return Reflection(
        analysis="The user complained.",
        rewrites=[Rewrite(number=1, workflow=f"Mind this: {complaint}"[:600])],
    )


HANDLERS: dict[str, Handler] = {"memp/build": _build, "memp/outcome": _outcome, "memp/reflect": _reflect}
