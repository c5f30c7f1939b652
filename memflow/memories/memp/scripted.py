"""The scripted chat's handlers for Memp: they use first words, statements and a few keywords."""

import re

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.memp.answers import Outcome, Procedure, Reflection, Rewrite
from memflow.memories.script_helpers import statements

_COMPLAINT = re.compile(r"\b(?:wrong|incorrect|not what|not right|no good)\b|不对|错了|不满意", re.IGNORECASE)
_PRAISE = re.compile(r"\b(?:thanks|thank you|great|perfect|that helps)\b|谢谢|很好|满意", re.IGNORECASE)


MAX_QUERY_CHARACTERS, MAX_WORKFLOW_CHARACTERS = 160, 600


def _build_procedure(request: ChatRequest) -> Procedure:
    """Return a procedure: the trajectory's first line as the query, its statements as the workflow, without dates."""
    trajectory = request.fields["trajectory"]
    lines = [line for line in trajectory.splitlines() if line.strip() and not line.startswith("[")]
    first_line = lines[0] if lines else trajectory
    query = (first_line.partition(": ")[2].strip() or first_line)[:MAX_QUERY_CHARACTERS]
    workflow = " ".join(statements("\n".join(lines)))[:MAX_WORKFLOW_CHARACTERS]
    return Procedure(query=query, workflow=workflow or query)


def _judge_outcome(request: ChatRequest) -> Outcome:
    """Return the outcome by the newest user message with a keyword; the first one, the task, is not judged."""
    user_lines = [line for line in request.fields["exchange"].splitlines() if line.startswith("user: ")]
    for user_message in (request.fields["after"], *user_lines[:0:-1]):
        if _COMPLAINT.search(user_message):
            return Outcome(outcome="failure")
        if _PRAISE.search(user_message):
            return Outcome(outcome="success")
    return Outcome(outcome="unclear")


def _reflect(request: ChatRequest) -> Reflection:
    """Return a rewrite of the first procedure that quotes the user's complaint."""
    complaint = request.fields["after"]
    return Reflection(
        analysis="The user complained.",
        rewrites=[Rewrite(number=1, workflow=f"Mind this: {complaint}"[:MAX_WORKFLOW_CHARACTERS])],
    )


HANDLERS: dict[str, Handler] = {
    "memp/build": _build_procedure,
    "memp/outcome": _judge_outcome,
    "memp/reflect": _reflect,
}
